/** What the page of a batch says of a localization in stages. */
import { expect, it } from 'vitest';
import { startStaging } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es'];
const UNSPOKEN = 'changed after the video was made';

it.each(['srt', 'vtt', 'ass'])('a text that is not the one that is spoken is told: %s', async (format) => {
  const vloc = await startStaging();
  const inFormat = ['--subtitle-format', format];
  await vloc.run([...LOCALIZE, '--stop-after', 'translate', ...inFormat]);
  const goOn = [...LOCALIZE, '--from-subtitles', ...inFormat];
  expect((await vloc.run(goOn)).code).toBe(0);
  const report = async () => {
    expect((await vloc.run(['batch', 'report', '.', '--html'])).code).toBe(0);
    return vloc.read('report.html');
  };
  expect(await report()).not.toContain(UNSPOKEN);

  await vloc.edit(`talk.es.${format}`, 'GOOD MORNING', 'buenos días');
  expect(await report()).toContain(UNSPOKEN);

  expect((await vloc.run(goOn)).code).toBe(0);
  expect(await report()).not.toContain(UNSPOKEN);
});
