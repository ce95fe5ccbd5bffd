/** What the service takes, what must be made of other files, and what is refused: one table, with real files. */
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { constantRate, convertVideo, planConversion } from '../../../src/media/export/convert.ts';
import { readFacts } from '../../../src/media/probe/facts.ts';
import { inspectVideo } from '../../../src/media/probe/inspect.ts';
import { readTimeline } from '../../../src/media/probe/timeline.ts';
import { createWork, detectFields, ffmpeg, ffprobe, programs } from '../../engines/workspace.ts';
import { samplesOf } from '../../prepare/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=s=160x120:r=25:d=1'];
const TONE = (hertz: number) => ['-f', 'lavfi', '-i', `sine=f=${hertz}:r=48000:d=1`];
const TWO_TRACKS = [...TONE(220), ...TONE(880), '-map', '0:v', '-map', '1:a', '-map', '2:a'];
const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast'];
/** Ten frames, then every third one: a screen recording that stands still. */
const UNEVEN = ['-vf', "select='lt(n,10)+not(mod(n,3))'", '-fps_mode', 'vfr'];
const SECOND_DEFAULT = ['-disposition:a:0', '0', '-disposition:a:1', 'default'];

async function convert(file: string, options: Parameters<typeof planConversion>[1] = {}) {
  const folder = makeFolder();
  const work = createWork(folder);
  const facts = await readFacts(programs, file, work);
  const plan = planConversion(facts, options);
  if (plan.type !== 'convert') throw new Error('it is not converted');
  const path = await convertVideo(programs, file, facts, plan, work);
  expect(basename(path)).toBe(basename(file).replace(/\.\w+$/, '.mp4'));
  return { path, plan, work };
}

test('a variable frame rate becomes constant only if the video will be split', async () => {
  const file = join(makeFolder(), 'uneven.mp4');
  ffmpeg(...PICTURE, ...TONE(220), ...UNEVEN, ...H264, '-c:a', 'aac', file);
  const before = createWork(makeFolder());
  const facts = await readFacts(programs, file, before);
  const { isConstant } = await readTimeline(programs, file, facts, before);
  expect(isConstant).toBe(false);
  expect(planConversion(facts, { isConstant }).type).toBe('none');
  const { path, plan, work } = await convert(file, { willBeSplit: true, isConstant });
  expect(plan).toMatchObject({ picture: 'encode', sound: 'copy' });
  const made = await readFacts(programs, path, work);
  expect((await readTimeline(programs, path, made, work)).isConstant).toBe(true);
});

test('the default audio track becomes the only one, and one that does not exist is refused with their names', async () => {
  const file = join(makeFolder(), 'second.mp4');
  const spanish = [...SECOND_DEFAULT, '-metadata:s:a:1', 'language=spa'];
  ffmpeg(...PICTURE, ...TWO_TRACKS, ...spanish, ...H264, '-c:a', 'aac', file);
  const { path, plan } = await convert(file);
  expect(plan).toMatchObject({ picture: 'copy', sound: 'copy' });
  expect(pitch(path)).toBe(880);
  const facts = await readFacts(programs, file, createWork(makeFolder()));
  expect(planConversion(facts, { audioTrack: 3 })).toMatchObject({
    code: 'NO_SUCH_TRACK',
    advice: 'choose one of: 1 (aac); 2 (Spanish, aac)',
  });
  expect(planConversion(facts, { audioTrack: 1 })).toMatchObject({ type: 'none', track: { number: 1 } });
  const [track] = facts.tracks;
  const recorded = {
    ...facts,
    demuxer: 'matroska,webm',
    tracks: track ? [{ ...track, codec: 'vorbis' }] : [],
  };
  expect(planConversion(recorded)).toMatchObject({ picture: 'copy', sound: 'encode' });
  const tracks = facts.tracks.map((track) => ({ ...track, isDefault: track.number === 1 }));
  expect(planConversion({ ...facts, tracks })).toMatchObject({
    type: 'none',
    reasons: [expect.stringContaining('audio track 1 (aac) is used, the default of 2')],
  });
  expect(planConversion({ ...facts, tracks: [] })).toMatchObject({
    code: 'NO_AUDIO_STREAM',
    advice: expect.stringContaining('nothing to recognize'),
  });
});

test('a file is converted to what the own inspection of the service takes, with interlaced frames made progressive in brightness and colours, also in 4:2:2 that was made of 4:2:0', async () => {
  const file = join(makeFolder(), 'air.ts');
  const fields = 'format=yuv420p,tinterlace=interleave_bottom,setfield=bff';
  const picture = ['-f', 'lavfi', '-i', 'testsrc2=s=320x256:r=50:d=1', ...TONE(220), '-vf', fields];
  const encoder = ['-pix_fmt', 'yuv422p', '-c:v', 'mpeg2video', '-q:v', '2', '-flags', '+ilme+ildct'];
  ffmpeg(...picture, ...encoder, '-c:a', 'mp2', file);
  const { path, plan, work } = await convert(file);
  expect((await inspectVideo(programs, path, work)).container).toBe('mp4');
  expect(plan.reasons).toContain('mpeg2video pictures are encoded as H.264');
  expect(Math.max(...detectFields(path).combed)).toBeLessThan(6);
  expect(ffprobe(path, 'stream=field_order', 'v:0')).toBe('progressive');
});

/** Which tone a video of one second has: it crosses zero twice in each swing. */
function pitch(path: string): number {
  const samples = samplesOf(path);
  const crossings = samples.filter((sample, at) => sample >= 0 !== (samples[at - 1] ?? 0) >= 0).length;
  return Math.round(crossings / 2 / 20) * 20;
}

test.each([
  [null, 30],
  [{ num: 1000, den: 37 }, 30000 / 1001],
  [{ num: 25, den: 1 }, 25],
  [{ num: 1000, den: 1 }, 60],
])('the constant rate for a mean of %o is %f', (mean, rate) => {
  const { num, den } = constantRate(mean);
  expect(num / den).toBeCloseTo(rate, 6);
});
