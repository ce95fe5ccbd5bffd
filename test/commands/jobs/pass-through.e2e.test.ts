/** Videos without sound, of which --pass-through makes copies in the results. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { makeMedia } from '../../support/remembered-programs.ts';
import { type Staging, startStaging } from '../stages/staging.ts';

const SILENT = ['in/silent.mp4', 'in/more/silent.mov'];
const COPIES = ['out/silent.es.mp4', 'out/more/silent.es.mov'];
const WORDS = ['localize', 'in', '--to', 'es', '--from', 'en', '--out', 'out'];
const PASSING = [...WORDS, '--pass-through'];

/** A picture of a second. */
function makeSilent(path: string): void {
  const picture = ['-f', 'lavfi', '-i', 'testsrc=s=64x48:r=5:d=1', '-pix_fmt', 'yuv420p'];
  makeMedia(...picture, '-c:v', 'libx264', '-preset', 'ultrafast', path);
}

/** A folder with videos without sound. */
async function openSilent(): Promise<Staging> {
  const vloc = await startStaging();
  await mkdir(vloc.path('in/more'), { recursive: true });
  for (const name of SILENT) makeSilent(vloc.path(name));
  return vloc;
}

/** The same with a video that has sound. */
async function openFolder(): Promise<Staging> {
  const vloc = await openSilent();
  await rename(vloc.path('talk.mp4'), vloc.path('in/talk.mp4'));
  return vloc;
}

function expectCopies(vloc: Staging): void {
  for (const [at, name] of COPIES.entries())
    expect(readFileSync(vloc.path(name)).equals(readFileSync(vloc.path(SILENT[at] ?? ''))), name).toBe(true);
}

describe('a folder with videos without sound', () => {
  it('names the ways on, and with --pass-through gets copies, once and for nothing', async () => {
    const vloc = await openFolder();
    const refused = await vloc.run(WORDS);
    expect(refused.code).toBe(3);
    for (const way of ['--pass-through', '--exclude PATTERN', 'vloc batch forget'])
      expect(refused.stderr).toContain(way);
    expect((await vloc.run(['batch', 'status', 'out'])).code).toBe(3);

    const planned = await vloc.run([...PASSING, '--dry-run', '-o', 'json']);
    const plan = JSON.parse(planned.stdout);
    expect([planned.code, plan.jobs, plan.credits], planned.stderr).toEqual([0, 0, 0]);
    const ran = await vloc.run([...PASSING, '-o', 'table']);
    expect(ran.code, ran.stderr).toBe(0);
    expectCopies(vloc);
    // The command to play a result is that of the localized video, not that of the copies before it.
    expect(ran.stdout).toMatch(/silent\.es\.mp4[\s\S]*talk\.es\.mp4/);
    expect(ran.stderr).toMatch(/Play it: .*out\/talk\.es\.mp4/);
    const status = await vloc.run(['batch', 'status', 'out', '--all', '-o', 'json']);
    expect([status.code, JSON.parse(status.stdout).counts]).toMatchObject([0, { failed: 0, waiting: 0 }]);
  });

  it.each([
    ['as one job', []],
    ['in stages', ['--terms', 'terms.csv']],
  ])(
    'gets copies for nothing, once, and never loses a file of the user in the results: %s',
    async (_how, more) => {
      const vloc = await openSilent();
      writeFileSync(vloc.path('terms.csv'), 'term,es\nnight,NIGHT\n');
      const words = [...PASSING, ...more];
      const [mine = ''] = COPIES;
      await mkdir(vloc.path('out'));
      writeFileSync(vloc.path(mine), 'mine');
      const refused = await vloc.run(words);
      expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('silent.es.mp4')]);
      expect(vloc.read(mine)).toBe('mine');
      rmSync(vloc.path(mine));
      const ran = await vloc.run(words);
      expect(ran.code, ran.stderr).toBe(0);
      expectCopies(vloc);
      expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
      const again = await vloc.run(words);
      expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('Nothing to do')]);
    },
  );
});
