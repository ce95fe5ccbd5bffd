import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../../../src/engines/backends/command/program.ts';
import { createWork, isAlive, temporaryFolder } from '../../workspace.ts';
import { createParts, readNumbers, script } from '../user-program.ts';

const step = { allowed: ['input', 'language'], timeout: 60 } as const;
const prepare = (run: readonly string[], timeout?: number, parts = createParts()) =>
  createProgram({ run, timeout }, parts, step);
const work = () => createWork(temporaryFolder());

describe('the arguments of a program', () => {
  test('get their values inserted, and no shell reads them', async () => {
    const program = prepare(['printf', '%s|', 'a={input}={language}', '$HOME; echo *', '{input}']);
    const stdout = await program.run({ input: '/a b', language: 'es' }, work());
    expect(stdout.toString()).toBe('a=/a b=es|$HOME; echo *|/a b|');
    expect(program.uses('input')).toBe(true);
    expect(prepare(['true']).uses('input')).toBe(false);
  });

  test.each([
    [
      ['tool', '{inptu}'],
      'command tool: {inptu} in "run" is not replaced in this step; available: {input}, {language}',
    ],
    [['tool', '{speed}'], '{speed} in "run" is not replaced'],
    [['{input}'], 'cannot contain a placeholder'],
    [['bin/tool', '{input}'], 'write the program in "run" as a name or as a full path'],
  ])('%j are refused', (run, message) => {
    expect(() => prepare(run)).toThrow(message);
    expect(() => prepare(run)).toThrow(expect.objectContaining({ code: 'ENGINE_ERROR', permanent: true }));
  });

  test('may begin with the home folder', async () => {
    const tool = script('echo "$1"');
    const env = { PATH: process.env.PATH, HOME: dirname(tool) };
    const program = prepare([`~/${basename(tool)}`, '~/model'], 60, createParts({ env }));
    expect((await program.run({}, work())).toString()).toBe(`${dirname(tool)}/model\n`);
    expect((await prepare(['printf', '~other/x'], 60, createParts({ env })).run({}, work())).toString()).toBe(
      '~other/x',
    );
  });
});

test('a program has the variables of the user, except those of vloc and keys', async () => {
  const env = {
    PATH: process.env.PATH,
    HOME: '/home/me',
    CUDA_VISIBLE_DEVICES: '1',
    VLOC_API_KEY: 'a',
    ASR: 'b',
  };
  const program = prepare(['env'], 60, createParts({ env, keyNames: new Set(['ASR']) }));
  const lines = (await program.run({}, work())).toString().split('\n');
  expect(lines).toEqual(expect.arrayContaining(['HOME=/home/me', 'CUDA_VISIBLE_DEVICES=1']));
  expect(lines.filter((line) => /VLOC|ASR/.test(line))).toEqual([]);
});

describe('a program that fails', () => {
  const failing = (body: string, timeout = 60) => prepare([script(body, 'demucs')], timeout).run({}, work());

  test('is named with its exit code and the last line of its stderr, without folders and colours', async () => {
    const run = failing(
      `echo one >&2; printf '\\e]0;demucs\\a\\e[31mno \\e]8;;https://example.com\\amodel\\e]8;;\\a in /home/me/models/x.pt\\a\\e[0m\\n' >&2; exit 3`,
    );
    await expect(run).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      permanent: false,
      message: 'command demucs stopped with exit code 3 (no model in x.pt)',
    });
  });

  test('is named without a reason if it printed none', async () => {
    await expect(failing('exit 3')).rejects.toThrow(/^command demucs stopped with exit code 3$/);
  });

  test('is named with the signal that ended it', async () => {
    await expect(failing('kill -SEGV $$')).rejects.toThrow('command demucs was ended by signal SIGSEGV');
    await expect(failing('kill -KILL $$')).rejects.toThrow('possibly out of memory');
  });

  test('is quoted in at most 300 characters', async () => {
    const failure = await failing('printf "x%.0s" {1..900} >&2; exit 1').catch((error) => error);
    expect(failure.message).toBe(`command demucs stopped with exit code 1 (${'x'.repeat(300)}…)`);
  });

  test('is ended if it writes more than it should', async () => {
    const program = prepare([script('yes', 'demucs')]);
    await expect(program.run({}, work(), { maxStdoutBytes: 10_000 })).rejects.toThrow(
      'command demucs failed (its output is over the limit)',
    );
  });

  test.each([['no-such-program'], ['/no/such/program']])(
    'because %s is missing fails permanently',
    async (name) => {
      await expect(prepare([name]).run({}, work())).rejects.toMatchObject({ permanent: true });
      await expect(prepare([name]).run({}, work())).rejects.toThrow(/program is not installed|is missing/);
    },
  );

  test('because the disk is full is a disk failure', async () => {
    await expect(failing('echo "write: No space left on device" >&2; exit 1')).rejects.toMatchObject({
      code: 'STORAGE_ERROR',
    });
  });
});

describe('a program that hangs', () => {
  /** Notes the process ids of itself and its children, which all ignore SIGTERM. */
  const hanging = `
    trap "" TERM
    (trap "" TERM; bash -c 'trap "" TERM; echo $$ >> "$0"; while :; do sleep 60; done' "$1") &
    echo $$ >> "$1"; echo $! >> "$1"
    until [ "$(wc -l < "$1")" = 3 ]; do sleep 0.01; done
    echo ready
    while :; do sleep 60; done`;

  test('is ended with all its children when its time is over', async () => {
    const pids = join(temporaryFolder(), 'pids');
    const tool = script(hanging, 'demucs');
    // On a busy machine, starting three processes can take longer than the shortest time.
    for (const seconds of [3, 30, 60]) {
      await expect(prepare([tool, pids], seconds).run({}, work())).rejects.toThrow(
        `command demucs did not finish within ${seconds} s; if it needs longer, set "timeout" in engines.json`,
      );
      if (existsSync(pids) && readNumbers(pids).length >= 3) break;
    }
    await expect.poll(() => readNumbers(pids).filter(isAlive)).toEqual([]);
  });

  test('is ended with all its children when the job is cancelled', async () => {
    const pids = join(temporaryFolder(), 'pids');
    const stop = new AbortController();
    const program = prepare([script(hanging, 'demucs'), pids]);
    const onLine = () => stop.abort(new Error('enough'));
    const run = program.run({}, createWork(temporaryFolder(), stop.signal), { onLine });
    await expect(run).rejects.toThrow('enough');
    expect(readNumbers(pids)).toHaveLength(3);
    await expect.poll(() => readNumbers(pids).filter(isAlive)).toEqual([]);
  });
});

test('a program need not read its stdin', async () => {
  await expect(prepare(['true']).run({}, work(), { stdin: 'x'.repeat(1_000_000) })).resolves.toHaveLength(0);
});
