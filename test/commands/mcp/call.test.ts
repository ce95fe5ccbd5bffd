import { mkdir, realpath, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { flagOption, listOption, type OptionTable, textOption } from '../../../src/base/option.ts';
import { type Command, defineCommand } from '../../../src/commands/context/command.ts';
import type { Context } from '../../../src/commands/context/context.ts';
import { outputTo } from '../../../src/commands/context/output/forms.ts';
import { callTool, createCallTerminal } from '../../../src/commands/mcp/call.ts';
import { createSession, openFolders, type Session } from '../../../src/commands/mcp/limits.ts';
import { makeTools, type ToolArguments } from '../../../src/commands/mcp/tools.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createTestIo } from '../../support/test-io.ts';

const OPTIONS = {
  out: textOption('dir', '', { tool: 'writes' }),
  name: textOption('template', '', { tool: 'name' }),
  to: listOption('tags', '', { tool: 'text' }),
  watch: flagOption('', { tool: 'no' }),
} as const satisfies OptionTable;

let root = '';
beforeEach(async () => {
  root = await realpath(makeFolder());
  for (const name of ['in', 'out']) await mkdir(join(root, name));
});

type Run = Command['run'];

/** Calls a tool whose command is `run`. */
async function call(run: Run, given: ToolArguments, setting: CallSetting = {}) {
  const { defaults = {}, maxCredits = null, signal = new AbortController().signal } = setting;
  const definition = {
    operands: { name: 'input', help: '', count: 'any', paths: 'video' },
    options: OPTIONS,
  } as const;
  const command = defineCommand({ ...definition, examples: [], prints: {}, run: async () => 0 });
  const load = async () => ({ ...command, run });
  const commands = [{ words: ['make'], leaf: { summary: 'make', load, tool: 'pays' } as const }];
  const [tool] = await makeTools(commands, async () => ({}));
  if (tool === undefined) expect.unreachable();
  const { io } = createTestIo({ cwd: root });
  const terminal = createCallTerminal([], () => undefined);
  const context: Context = {
    ...{ io, fields: null, service: {}, commandLine: ['mcp'] },
    ...outputTo('table', () => expect.unreachable(), terminal),
    terminal,
    signal: new AbortController().signal,
    onNextSignal: () => undefined,
    fail: (failure) => expect.unreachable(failure.message),
    printed: async () => undefined,
    addDefaults: async (_table, options) => ({ ...defaults, ...options }),
  };
  const folders = await openFolders(['in'], ['out'], root);
  const { session = createSession(maxCredits) } = setting;
  return callTool(tool, given, { context, folders, session, signal, report: () => undefined });
}

interface CallSetting {
  readonly defaults?: Record<string, unknown>;
  readonly maxCredits?: number | null;
  readonly signal?: AbortSignal;
  readonly session?: Session;
}

describe('a call', () => {
  it('runs the command with absolute paths in the folders, as JSON and without a terminal', async () => {
    const answer = await call(
      async (context, operands, options) => {
        context.print(
          JSON.stringify({ operands, options, output: context.output, line: context.commandLine }),
        );
        context.terminal.note('a note');
        return 0;
      },
      { inputs: ['a.mp4'], to: ['es'] },
    );
    const operands = [join(root, 'in/a.mp4')];
    const options = { to: ['es'], out: join(root, 'out') };
    const line = ['make', ...operands, '--to', 'es', '--out', options.out];
    expect(answer).toEqual({
      ...{ exit_code: 0, text: null, notes: ['a note'], error: null },
      output: { operands, options, output: 'json', line },
      session: { spent_credits: 0, left_credits: null },
    });
  });

  it('returns the failure of its command, with its exit code and what was printed before', async () => {
    const answer = await call(
      async ({ print }) => {
        print('half a result');
        throw new Failure({
          category: 'credits',
          code: 'MAX_CREDITS_REACHED',
          message: 'too much',
          advice: 'Raise it.',
        });
      },
      { inputs: [] },
      { maxCredits: 7 },
    );
    expect(answer).toMatchObject({ exit_code: 6, output: null, text: 'half a result' });
    expect(answer.error).toMatchObject({
      code: 'MAX_CREDITS_REACHED',
      advice: expect.stringContaining('This session has 7 credits left'),
    });
  });

  it('counts the credits of its run', async () => {
    const answer = await call(
      async ({ spending }) => {
        expect(spending?.left()).toBe(7);
        spending?.count(3);
        return 0;
      },
      { inputs: [] },
      { maxCredits: 7 },
    );
    expect(answer.session).toEqual({ spent_credits: 3, left_credits: 4 });
  });

  it('has its paths checked when it starts, because links can change while it waits', async () => {
    const session = createSession(null);
    const pay: Session['pay'] = async (signal, work) => {
      await symlink(root, join(root, 'in/link'));
      return session.pay(signal, work);
    };
    const run: Run = async () => expect.unreachable();
    const answer = await call(run, { inputs: ['link'] }, { session: { ...session, pay } });
    expect(answer).toMatchObject({ exit_code: 2, error: { code: 'OUTSIDE_FOLDERS' } });
  });

  it('ends its command as Ctrl-C does when it is cancelled, and has no answer', async () => {
    const cancel = new AbortController();
    const run: Run = async ({ signal }) => {
      cancel.abort(new Error('cancelled'));
      throw signal.reason;
    };
    await expect(call(run, { inputs: [] }, { signal: cancel.signal })).rejects.toThrow('cancelled');
  });

  it.each([
    [{ inputs: ['-'] }, 'USAGE'],
    [{ inputs: ['--help'] }, 'USAGE'],
    [{ inputs: ['../b.mp4'] }, 'OUTSIDE_FOLDERS'],
    [{ inputs: [], out: '../in' }, 'OUTSIDE_FOLDERS'],
    [{ inputs: [], out: '-/../../x' }, 'OUTSIDE_FOLDERS'],
    [{ inputs: [], name: 'a/b' }, 'USAGE'],
    [{ inputs: [], name: '../x{ext}' }, 'USAGE'],
    [{ inputs: [], name: '..' }, 'USAGE'],
  ])('is refused before its command runs: %j', async (given, code) => {
    const answer = await call(async () => expect.unreachable(), given);
    expect(answer).toMatchObject({ exit_code: 2, error: { code } });
  });

  it('may have an address or an id as its input', async () => {
    const inputs = ['https://example.com/a.mp4'];
    const answer = await call(
      async ({ print }, operands) => {
        print(JSON.stringify(operands));
        return 0;
      },
      { inputs },
    );
    expect(answer.output).toEqual(inputs);
  });
});

describe('a default of the user', () => {
  const show: Run = async ({ print }, _operands, options) => {
    print(JSON.stringify(options));
    return 0;
  };

  it('is used unless the agent passes another value, and may have folders in a name', async () => {
    const defaults = { to: ['es'], name: '{lang}/{stem}{ext}' };
    const out = join(root, 'out');
    expect((await call(show, { inputs: [] }, { defaults })).output).toEqual({ ...defaults, out });
    expect((await call(show, { inputs: [], to: ['fr'] }, { defaults })).output).toMatchObject({ to: ['fr'] });
  });

  it('is ignored if agents cannot set the option, and a note says so', async () => {
    const answer = await call(show, { inputs: [] }, { defaults: { watch: true } });
    expect(answer.output).toEqual({ out: join(root, 'out') });
    expect(answer.notes).toEqual(['vloc.config.json sets --watch; tools ignore that.']);
  });

  it('does not place results outside the writable folders', async () => {
    const defaults = { out: join(root, 'in') };
    const { error } = await call(show, { inputs: [] }, { defaults });
    expect(error).toMatchObject({
      code: 'OUTSIDE_FOLDERS',
      advice: expect.stringMatching(/^vloc\.config\.json sets it\. Give out with a writable folder/),
    });
    expect(await call(show, { inputs: [], out: '.' }, { defaults })).toMatchObject({ exit_code: 0 });
  });
});
