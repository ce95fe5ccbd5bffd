/** The dry run of stages and the run ask the same recipe. */
import { expect, it } from 'vitest';
import { LIMITS } from '../jobs/limits.ts';
import { startStaging } from './staging.ts';

it('--dry-run counts the parts of recognized subtitles, as the run sends them', async () => {
  const vloc = await startStaging();
  const limits = { ...LIMITS, lines: 1 };
  const words = ['localize', 'talk.mp4', '--to', 'es', '--stop-after'];
  await vloc.run([...words, 'recognize'], { limits });
  const planned = await vloc.run([...words, 'translate', '--dry-run', '-o', 'json'], { limits });
  expect(JSON.parse(planned.stdout).jobs).toBe(2);
  const run = await vloc.run([...words, 'translate'], { limits });
  expect(run.code, run.stderr).toBe(0);
  expect(await vloc.jobs()).toEqual([1, 2, 0, 0]);
});

it('--dry-run says that a language is spoken already, where the run ends too', async () => {
  const vloc = await startStaging();
  const words = ['localize', 'talk.mp4', '--to', 'es,en', '--stop-after'];
  await vloc.run([...words, 'recognize']);
  const planned = await vloc.run([...words, 'translate', '--dry-run', '-o', 'json']);
  const why = 'the speech is already in English, which is the target language';
  expect(planned.stderr).toContain(`talk.mp4 → en: ${why}; it stops there.`);
  expect(JSON.parse(planned.stdout).jobs).toBe(1);
  const run = await vloc.run([...words, 'translate']);
  expect(run.stderr).toContain(why);
  expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
});
