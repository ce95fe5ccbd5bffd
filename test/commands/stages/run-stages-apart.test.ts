/** Videos of one run that are in different stages. */
import { expect, it } from 'vitest';
import { until } from '../../service/harness/scene.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { startMain } from '../../support/run-main.ts';
import { environmentOf, QUICK } from '../support/run-vloc.ts';
import { type Staging, startStaging } from './staging.ts';

const WORDS = ['localize', 'talk.mp4', 'other.mp4', '--to', 'es'];

function start(vloc: Staging, words: readonly string[]) {
  const env = { PATH: rememberingPath(), ...environmentOf(vloc, vloc.folder) };
  return startMain(words, { cwd: vloc.folder, env, pace: QUICK });
}

const finishedIn = (vloc: Staging, ending: string) =>
  ['talk', 'other'].filter((stem) => vloc.has(`${stem}.${ending}`));

it('a recognition that does not end delays only its own video, and a rerun names what each waits for: a job that still runs, or a review', async () => {
  const vloc = await startStaging();
  await vloc.addVideo('other.mp4');
  const words = [...WORDS, '--stop-after', 'translate'];
  const letGo = vloc.holdRecognition();
  const first = start(vloc, words);
  await until(() => finishedIn(vloc, 'es.srt').length > 0);
  expect(await vloc.jobs()).toEqual([2, 1, 0, 0]);
  expect(finishedIn(vloc, 'en.srt')).toHaveLength(1);
  first.send('SIGINT');
  expect(await first.ended).toMatchObject({ code: 130 });
  const [done = ''] = finishedIn(vloc, 'es.srt');
  const held = done === 'talk' ? 'other' : 'talk';
  const again = start(vloc, words);
  await until(() => again.stderr().includes('waits for your review'));
  expect(again.stderr()).toMatch(
    new RegExp(`^${held}\\.mp4 → es waits for its recognition \\(\\w+\\), which is running\\.$`, 'm'),
  );
  expect(again.stderr()).toMatch(new RegExp(`^${done}\\.mp4 → es waits for your review\\.$`, 'm'));
  letGo();
  expect(await again.ended, again.stderr()).toMatchObject({ code: 0 });
  // The other video says the same, so that its translation is remembered.
  expect(await vloc.jobs()).toEqual([2, 1, 0, 0]);
});

it('progress counts videos, not the jobs of their stages', async () => {
  const vloc = await startStaging();
  for (const name of ['b', 'c', 'd']) await vloc.addVideo(`${name}.mp4`);
  const words = ['talk', 'b', 'c', 'd'].map((stem) => `${stem}.mp4`);
  const { code, stderr } = await vloc.run(['localize', ...words, '--to', 'es', '--stop-after', 'translate']);
  expect(code, stderr).toBe(0);
  expect(stderr.split('\n').filter((line) => / of \d+ done/.test(line))).toEqual([
    expect.stringMatching(/^0 of 4 done, 4 waiting/),
    expect.stringMatching(/^4 of 4 done/),
  ]);
});
