import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkFolder } from '../../../src/commands/jobs/job-options.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { startVloc } from '../support/run-vloc.ts';

async function check({
  out = undefined,
  clobber = false,
  skipExisting = false,
}: Partial<Parameters<typeof checkFolder>[0]>) {
  const cwd = makeFolder();
  await writeFile(join(cwd, 'notes'), '');
  await mkdir(join(cwd, 'out.mp4'));
  return checkFolder({ out, clobber, skipExisting }, { cwd, platform: 'linux' });
}

describe('--out', () => {
  it.each(['out', '.', '../out', 'out.mp4', 'new.mp4/', 'v1.2', '-'])('may be a folder: %s', async (out) => {
    await expect(check({ out })).resolves.toBeUndefined();
  });
});

it.each([
  ['translate', 'talk.srt', '--to', 'es'],
  ['jobs', 'wait', 'tra_1'],
  ['jobs', 'download', 'tra_1'],
])('all commands that fetch results check it before anything is sent: %s %s', async (...words) => {
  const vloc = await startVloc();
  await writeFile(join(vloc.folder, 'talk.srt'), '');
  for (const wrong of [
    ['--out', 'talk.srt'],
    ['--out', 'x.mp4'],
    ['--clobber', '--skip-existing'],
  ]) {
    const { code, stderr } = await vloc.run([...words, ...wrong]);
    expect([wrong, code], stderr).toEqual([wrong, 2]);
  }
});
