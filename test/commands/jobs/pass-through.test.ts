/** Videos without sound, of which --pass-through makes copies in the results. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ffmpeg } from '../../engines/workspace.ts';
import { type Staging, startStaging } from '../stages/staging.ts';

const PATIENCE = { timeout: 240_000 };
const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=s=64x48:r=5:d=1'];

async function openFolder(): Promise<Staging> {
  const vloc = await startStaging();
  await rm(vloc.path('talk.mp4'));
  await vloc.addVideo('in/good.mp4');
  await mkdir(join(vloc.folder, 'in', 'more'));
  for (const name of ['silent.mp4', 'more/silent.mov'])
    ffmpeg(
      ...PICTURE,
      '-pix_fmt',
      'yuv420p',
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      vloc.path(`in/${name}`),
    );
  writeFileSync(vloc.path('terms.csv'), 'term,es\nnight,NIGHT\n');
  return vloc;
}

const WORDS = ['localize', 'in', '--to', 'es', '--from', 'en', '--out', 'out'];

describe.each([
  ['as one job', []],
  ['in stages', ['--terms', 'terms.csv']],
])('a folder with videos without sound, %s', PATIENCE, (_how, more) => {
  const words = [...WORDS, ...more];

  it('names the ways on, and with --pass-through gets copies, once and for nothing', async () => {
    const vloc = await openFolder();
    const refused = await vloc.run(words);
    expect(refused.code).toBe(3);
    for (const way of ['--pass-through', '--exclude PATTERN', 'vloc batch forget'])
      expect(refused.stderr).toContain(way);
    expect((await vloc.run(['batch', 'status', 'out'])).code).toBe(3);
    const made = await vloc.jobs();

    const passing = [...words, '--pass-through'];
    const planned = await vloc.run([...passing, '--dry-run', '-o', 'json']);
    const plan = JSON.parse(planned.stdout);
    expect([planned.code, plan.jobs, plan.credits], planned.stderr).toEqual([0, 0, 0]);
    const shown = await vloc.run([...passing, '--dry-run']);
    expect(shown.stdout + shown.stderr).toMatch(
      /silent\.mp4 .*copied|Copied on this machine: .*silent\.es\.mp4/,
    );
    const ran = await vloc.run([...passing, '-o', 'json']);
    expect(ran.code, ran.stderr).toBe(0);
    for (const name of ['silent.mp4', 'more/silent.mov']) {
      const copy = vloc.path(`out/${name.replace('silent.', 'silent.es.')}`);
      expect(readFileSync(copy).equals(readFileSync(vloc.path(`in/${name}`))), name).toBe(true);
    }
    expect(await vloc.jobs()).toEqual(made);
    const status = await vloc.run(['batch', 'status', 'out', '--all', '-o', 'json']);
    expect([status.code, JSON.parse(status.stdout).counts]).toMatchObject([0, { failed: 0, waiting: 0 }]);

    const { mtimeMs, ino } = statSync(vloc.path('out/silent.es.mp4'));
    const again = await vloc.run(passing);
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('Nothing to do')]);
    expect(statSync(vloc.path('out/silent.es.mp4'))).toMatchObject({ mtimeMs, ino });
    // A copy that is gone is made again, and one of another file replaces it.
    await rm(vloc.path('out/silent.es.mp4'));
    ffmpeg(
      '-y',
      ...PICTURE,
      '-t',
      '0.6',
      '-pix_fmt',
      'yuv420p',
      '-c:v',
      'libx264',
      vloc.path('in/more/silent.mov'),
    );
    const last = await vloc.run(passing);
    expect(last.code, last.stderr).toBe(0);
    for (const [from, to] of [
      ['silent.mp4', 'silent.es.mp4'],
      ['more/silent.mov', 'more/silent.es.mov'],
    ])
      expect(readFileSync(vloc.path(`out/${to}`)).equals(readFileSync(vloc.path(`in/${from}`))), to).toBe(
        true,
      );
  });

  it('never writes over a file of the user', async () => {
    const vloc = await openFolder();
    await mkdir(join(vloc.folder, 'out'));
    writeFileSync(vloc.path('out/silent.es.mp4'), 'mine');
    const ran = await vloc.run([...words, '--pass-through']);
    expect(ran.code, ran.stderr).toBe(3);
    expect(vloc.read('out/silent.es.mp4')).toBe('mine');
    expect(ran.stderr).toContain('silent.es.mp4');
  });
});

it('the command to play a result is that of a localized video, not of a copy', PATIENCE, async () => {
  const vloc = await openFolder();
  await rename(vloc.path('in/silent.mp4'), vloc.path('in/a.mp4'));
  const { code, stdout, stderr } = await vloc.run([...WORDS, '--pass-through', '-o', 'table']);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/a\.es\.mp4[\s\S]*good\.es\.mp4/);
  expect(stderr).toMatch(/Play it: .*out\/good\.es\.mp4/);
});
