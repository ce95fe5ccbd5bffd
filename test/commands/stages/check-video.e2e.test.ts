/** Videos in stages that are damaged: nothing of them is paid, although no stage sends them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ffmpeg } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { linesOf } from '../support/run-vloc.ts';
import { startStaging } from './staging.ts';

const SRT = '1\n00:00:00,000 --> 00:00:00,900\nhello\n';

/** Two seconds with noise, so that the bytes are spread over the time. */
function makeVideo(): Buffer {
  const file = join(makeFolder(), 'whole.mp4');
  ffmpeg(
    ...['-f', 'lavfi', '-i', 'testsrc2=s=64x48:r=5:d=2', '-f', 'lavfi', '-i', 'anoisesrc=r=48000:d=2'],
    ...['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '5', '-c:a', 'aac'],
    ...['-movflags', '+faststart', file],
  );
  return readFileSync(file);
}

/** Noise instead of the middle tenth. */
function spoil(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const from = Math.floor(copy.length / 2);
  for (let at = from; at < from + copy.length / 10; at += 1) copy[at] = (at * 7919) % 251;
  return copy;
}

it('videos of a folder that lack their end or cannot be decoded fail alone, before anything of them is paid', async () => {
  const vloc = await startStaging();
  const whole = makeVideo();
  writeFileSync(vloc.path('cut.mp4'), whole.subarray(0, Math.floor(whole.length * 0.98)));
  writeFileSync(vloc.path('bad.mp4'), spoil(whole));
  for (const name of ['talk', 'cut', 'bad']) writeFileSync(vloc.path(`${name}.en.srt`), SRT);
  const words = ['localize', '.', '--to', 'es', '--from', 'en', '--from-subtitles', '--out', 'out'];
  const { code, stdout, stderr } = await vloc.run([...words, '--stop-after', 'translate', '-o', 'ndjson']);
  expect(code, stderr).toBe(3);
  const failed = linesOf(stdout).filter(({ type }) => type === 'failed');
  expect(failed.toSorted((one, other) => one.input.localeCompare(other.input))).toMatchObject([
    {
      input: 'bad.mp4',
      message: expect.stringMatching(/the (picture|sound) of the video cannot be decoded/),
    },
    {
      input: 'cut.mp4',
      message: expect.stringMatching(/the last \d+ bytes .* are missing.*export it again/s),
    },
  ]);
  expect(await vloc.jobs()).toEqual([0, 1, 0, 0]);
  expect(['talk', 'bad', 'cut'].map((name) => vloc.has(`${name}.es.srt`))).toEqual([true, false, false]);
});
