import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkResult, createProgram } from '../../../../src/engines/backends/command/program.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { createWork, isAlive } from '../../workspace.ts';
import { createParts, readNumbers, script } from '../user-program.ts';

const step = { allowed: ['input', 'language'], timeout: 60 } as const;
const prepare = (run: readonly string[], timeout?: number, parts = createParts()) =>
  createProgram({ run, timeout }, parts, step);
const work = () => createWork(makeFolder());

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
      await expect(prepare([name]).run({}, work())).rejects.toMatchObject({
        permanent: true,
        message: expect.stringMatching(/program is not installed|is missing/),
      });
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
    const pids = join(makeFolder(), 'pids');
    const tool = script(hanging, 'demucs');
    // On a busy machine, starting three processes can take longer than the shortest time.
    for (const seconds of [1, 30, 60]) {
      await expect(prepare([tool, pids], seconds).run({}, work())).rejects.toThrow(
        `command demucs did not finish within ${seconds} s; if it needs longer, set "timeout" in engines.json`,
      );
      if (existsSync(pids) && readNumbers(pids).length >= 3) break;
    }
    await expect.poll(() => readNumbers(pids).filter(isAlive)).toEqual([]);
  });
});

describe('a file that a program wrote', () => {
  test('may be behind a link within its folder', async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'real'), 'x');
    symlinkSync(join(folder, 'real'), join(folder, 'a.wav'));
    const limits = { folder, shown: 'a.wav', maxBytes: 1 };
    expect(await checkResult(prepare(['true']), join(folder, 'a.wav'), limits)).toBe(join(folder, 'real'));
  });

  const elsewhere = () => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'a.wav'), 'x');
    return folder;
  };
  test.each<readonly [string, (folder: string) => void]>([
    ['did not write b/a.wav', () => {}],
    ['did not write b/a.wav', (folder) => mkdirSync(join(folder, 'b', 'a.wav'), { recursive: true })],
    ['wrote nothing into b/a.wav', (folder) => write(folder, '')],
    ['wrote 11 bytes into b/a.wav; the limit is 10', (folder) => write(folder, 'x'.repeat(11))],
    [
      'wrote b/a.wav as a link to another folder',
      (folder) => {
        mkdirSync(join(folder, 'b'));
        symlinkSync(join(elsewhere(), 'a.wav'), join(folder, 'b', 'a.wav'));
      },
    ],
    ['wrote b/a.wav as a link to another folder', (folder) => symlinkSync(elsewhere(), join(folder, 'b'))],
  ])('is refused: %s', async (message, prepareFolder) => {
    const folder = makeFolder();
    prepareFolder(folder);
    const limits = { folder, shown: 'b/a.wav', maxBytes: 10 };
    await expect(checkResult(prepare(['demucs']), join(folder, 'b', 'a.wav'), limits)).rejects.toMatchObject({
      code: 'ENGINE_ERROR',
      message: `command demucs ${message}`,
    });
  });

  function write(folder: string, text: string): void {
    mkdirSync(join(folder, 'b'));
    writeFileSync(join(folder, 'b', 'a.wav'), text);
  }
});

test('a program need not read its stdin', async () => {
  await expect(prepare(['true']).run({}, work(), { stdin: 'x'.repeat(1_000_000) })).resolves.toHaveLength(0);
});
