/** The dry run of stages and the run ask the same recipe. */
import { expect, it } from 'vitest';
import { LIMITS } from '../jobs/limits.ts';
import { startStaging } from './staging.ts';

it('--dry-run counts the parts of recognized subtitles and says which language is spoken already, as the run does', async () => {
  const vloc = await startStaging();
  const limits = { ...LIMITS, lines: 1 };
  const words = ['localize', 'talk.mp4', '--to', 'es,en', '--stop-after'];
  await vloc.run([...words, 'recognize'], { limits });
  const planned = await vloc.run([...words, 'translate', '--dry-run', '-o', 'json'], { limits });
  expect(JSON.parse(planned.stdout).jobs).toBe(2);
  const why = 'the speech is already in English, which is the target language';
  expect(planned.stderr).toContain(`talk.mp4 → en: ${why}; it stops there.`);
  const run = await vloc.run([...words, 'translate'], { limits });
  expect(run.stderr).toContain(why);
  expect(await vloc.jobs()).toEqual([1, 2, 0, 0]);
});
