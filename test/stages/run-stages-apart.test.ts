/** Videos of one run that are in different stages. */
import { expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { environmentOf, QUICK } from '../commands/support/run-vloc.ts';
import { until } from '../service/harness/scene.ts';
import { rememberingPath } from '../support/remembered-programs.ts';
import { createTestIo } from '../support/test-io.ts';
import { type Staging, startStaging } from './staging.ts';

const WORDS = ['localize', 'talk.mp4', 'other.mp4', '--to', 'es'];
const PATIENCE_MS = 60_000;

function start(vloc: Staging, words: readonly string[]) {
  const env = { PATH: rememberingPath(), ...environmentOf(vloc, vloc.folder) };
  const test = createTestIo({ cwd: vloc.folder, env, pace: QUICK });
  return { ended: main(words, test.io), ...test };
}

const finishedIn = (vloc: Staging, ending: string) =>
  ['talk', 'other'].filter((stem) => vloc.has(`${stem}.${ending}`));

it('a recognition that does not end delays only its own video', { timeout: PATIENCE_MS }, async () => {
  const vloc = await startStaging();
  await vloc.addVideo('other.mp4');
  const letGo = vloc.holdRecognition();
  const run = start(vloc, [...WORDS, '--from-subtitles']);
  await until(
    async () => finishedIn(vloc, 'es.mp4'),
    (videos) => videos.length > 0,
    PATIENCE_MS / 2,
  );
  expect(await vloc.jobs()).toEqual([2, 1, 1, 1]);
  expect(finishedIn(vloc, 'en.srt')).toHaveLength(1);
  letGo();
  expect(await run.ended, run.stderr()).toBe(0);
  expect(await vloc.jobs()).toEqual([2, 2, 2, 2]);
  expect(finishedIn(vloc, 'es.mp4')).toHaveLength(2);
});
