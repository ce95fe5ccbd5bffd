import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  choiceOption,
  durationOption,
  flagOption,
  listOption,
  numberOption,
  type OptionTable,
  pairsOption,
  textOption,
  textsOption,
} from '../../../src/base/option.ts';
import { type Command, defineCommand } from '../../../src/commands/context/command.ts';
import {
  allowDefaults,
  makeTools,
  readArguments,
  type Tool,
  writeWords,
} from '../../../src/commands/mcp/tools.ts';

const OPTIONS = {
  to: listOption('tags', 'languages', { tool: 'text', required: true }),
  include: textsOption('glob', '', { tool: 'text' }),
  out: textOption('dir', 'folder', { tool: 'writes' }),
  file: textOption('file', 'a file'),
  set: pairsOption('name=value', '', { tool: 'default' }),
  watch: flagOption('', { tool: 'no' }),
  skipExisting: flagOption(''),
  maxCredits: numberOption('n', ''),
  timeout: durationOption(''),
  mode: choiceOption(['standard', 'fast'], ''),
} as const satisfies OptionTable;

const COMMAND: Command = defineCommand({
  operands: { name: 'input', help: 'files', count: 'any', paths: 'video' },
  options: OPTIONS,
  examples: [],
  prints: { json: [v.object({})] },
  run: async () => 0,
});

async function makeTool(defaults: Record<string, unknown> = {}): Promise<Tool> {
  const leaf = { summary: 'make things', load: async () => COMMAND, tool: 'pays' } as const;
  const hidden = { summary: 'serve', load: async () => expect.unreachable() };
  const commands = [
    { words: ['jobs', 'make'], leaf },
    { words: ['serve'], leaf: hidden },
  ];
  const [tool, ...others] = await makeTools(commands, async () => defaults);
  if (tool === undefined || others.length > 0) expect.unreachable();
  return tool;
}

describe('a tool', () => {
  it('has the marked options of its command: none for endless runs, no text that may name a file', async () => {
    const { name, input, description } = await makeTool();
    expect(name).toBe('jobs_make');
    expect(description).toMatch(/^Make things\. COSTS CREDITS/);
    expect(Object.keys(input.properties as object)).toEqual([
      ...['inputs', 'to', 'include', 'out', 'skip_existing', 'max_credits', 'timeout', 'mode'],
    ]);
    expect(input).toMatchObject({ required: ['inputs', 'to'], additionalProperties: false });
  });

  it('does not require an option with a default of the user', async () => {
    expect((await makeTool({ to: ['es'] })).input).toMatchObject({ required: ['inputs'] });
  });

  it('reads its arguments as the command line would', async () => {
    const given = {
      inputs: ['a.mp4'],
      to: ['es', 'fr'],
      timeout: '90s',
      max_credits: 3,
      skip_existing: true,
    };
    expect(readArguments(await makeTool(), given)).toEqual({
      operands: ['a.mp4'],
      options: { to: ['es', 'fr'], timeout: 90_000, maxCredits: 3, skipExisting: true },
    });
  });

  it('drops arguments that it does not offer', async () => {
    const call = readArguments(await makeTool(), {
      inputs: [],
      watch: true,
      file: '/etc/passwd',
      set: { a: 'b' },
    });
    expect(call).toEqual({ operands: [], options: {} });
  });

  it('writes the command line of a call', async () => {
    const options = {
      ...{ to: ['es', 'fr'], include: ['*.mp4', '*.mov'], out: '/out', set: { a: '1', b: '2' } },
      ...{ watch: false, skipExisting: true, maxCredits: 3, timeout: 90_000, mode: undefined },
    };
    expect(writeWords(await makeTool(), { operands: ['a.mp4'], options }).join(' ')).toBe(
      'jobs make a.mp4 --to es,fr --include *.mp4 --include *.mov --out /out --set a=1 --set b=2 ' +
        '--skip-existing --max-credits 3 --timeout 90000ms',
    );
  });
});

describe('defaults of the user', () => {
  it('apply if the tool has the option, and for options that only the user may set', () => {
    const defaults = { to: ['es'], out: '/out', set: { a: 'b' }, watch: true, file: 'a.txt', unknown: 1 };
    expect(allowDefaults(COMMAND, defaults)).toEqual({
      allowed: { to: ['es'], out: '/out', set: { a: 'b' } },
      ignored: ['--watch', '--file', '--unknown'],
    });
  });
});
