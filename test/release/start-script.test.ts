/** The script that is the program of the archives for macOS. The Node beside it is one that only tells how it was called. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../support/make-folder.ts';

const SCRIPT = fileURLToPath(new URL('../../release/standalone/start.sh', import.meta.url));
const TELLING = '#!/bin/sh\nshift\nprintf "%s|" "$@"\n[ "$1" != fail ] || exit 7\n';

async function makeArchive(): Promise<{ root: string; program: string }> {
  const root = join(makeFolder(), 'my tools');
  const program = join(root, 'vloc');
  mkdirSync(join(root, 'lib/bin'), { recursive: true });
  copyFileSync(SCRIPT, program);
  writeFileSync(join(root, 'lib/node'), TELLING);
  writeFileSync(join(root, 'lib/bin/vloc.js'), '');
  for (const path of [program, join(root, 'lib/node')]) chmodSync(path, 0o755);
  return { root, program };
}

describe.skipIf(process.platform === 'win32')('the script that starts vloc on macOS', () => {
  it('passes on arguments unchanged, from any folder and through links', async () => {
    const { root, program } = await makeArchive();
    mkdirSync(join(root, 'bin'));
    symlinkSync('../vloc', join(root, 'bin/near'));
    symlinkSync(join(root, 'bin/near'), join(root, 'bin/far'));
    for (const path of [program, join(root, 'bin/near'), join(root, 'bin/far')]) {
      expect(execFileSync(path, ['a b', '', '*', '$HOME'], { cwd: '/', encoding: 'utf8' })).toBe(
        'a b||*|$HOME|',
      );
    }
    const env = { PATH: `${join(root, 'bin')}:/usr/bin:/bin` };
    expect(execFileSync('/bin/sh', ['-c', 'far --version'], { env, encoding: 'utf8' })).toBe('--version|');
    expect(execFileSync('./vloc', ['x'], { cwd: root, encoding: 'utf8' })).toBe('x|');
  });

  it('ends with the exit code of vloc', async () => {
    const { program } = await makeArchive();
    expect(spawnSync(program, ['fail']).status).toBe(7);
  });

  it('says what to do if it was moved away from its folder', async () => {
    const { program } = await makeArchive();
    const alone = join(makeFolder(), 'vloc');
    copyFileSync(program, alone);
    const { status, stderr } = spawnSync(alone, ['--version'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([4, expect.stringContaining('Unpack the whole archive again')]);
  });
});
