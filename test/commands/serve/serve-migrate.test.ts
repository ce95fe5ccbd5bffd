import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../support/make-folder.ts';
import { runMain } from '../../support/run-main.ts';

async function run(words: readonly string[], env: Record<string, string> = {}) {
  return runMain(['serve', 'migrate', ...words], { env });
}

const DATABASE = 'postgres://vloc@127.0.0.1:1/vloc';

test('a move needs a state folder and a database', async () => {
  const stateDir = makeFolder();
  const cases: readonly (readonly [string[], RegExp])[] = [
    [[], /neither --from nor --to/],
    [['--from', stateDir], /--to was not given.*VLOC_DATABASE/s],
    [['--to', stateDir], /--from was not given.*VLOC_DATABASE/s],
    [['--from', stateDir, '--to', stateDir], /both folders/],
    [['--from', DATABASE, '--to', DATABASE], /both databases/],
    [['--undo', stateDir, '--from', stateDir], /--undo cannot be combined with/],
  ];
  for (const [words, message] of cases) {
    const { code, stderr } = await run(words);
    expect([words, code]).toEqual([words, 2]);
    expect(stderr).toMatch(message);
  }
});

test('a password in an option is refused, because other users can read it', async () => {
  const address = 'postgres://vloc:hidden@127.0.0.1:1/vloc';
  for (const words of [
    ['--from', '/srv/vloc', '--to', address],
    ['--to', '/srv/vloc', '--from', address],
    ['--undo', address],
  ]) {
    const { code, stderr } = await run(words);
    expect(code).toBe(2);
    expect(stderr).toMatch(/has a password/);
    expect(stderr).not.toContain('hidden');
  }
});

test('a folder that no service has used is refused, and is not changed', async () => {
  const stateDir = join(makeFolder(), 'mistyped');
  const { code, stderr } = await run(['--from', stateDir, '--to', DATABASE]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`no service has used ${stateDir}`)]);
  await expect(readdir(stateDir)).rejects.toThrow('ENOENT');
});

test('a database that cannot be reached is a clear error, without the password of VLOC_DATABASE', async () => {
  const { code, stderr } = await run(['--to', makeFolder()], {
    VLOC_DATABASE: 'postgres://vloc:hidden@127.0.0.1:1/vloc',
  });
  expect([code, stderr]).toEqual([
    4,
    expect.stringContaining('127.0.0.1:1/vloc cannot be reached: nothing listens there'),
  ]);
  expect(stderr).not.toContain('hidden');
});
