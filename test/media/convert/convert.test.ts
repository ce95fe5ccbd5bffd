/** What the service takes, what must be made of other files, and what is refused: one table, with real files. */
import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type ConversionOptions,
  constantRate,
  convertVideo,
  planConversion,
} from '../../../src/media/export/convert.ts';
import { readFacts } from '../../../src/media/probe/facts.ts';
import { inspectVideo } from '../../../src/media/probe/inspect.ts';
import { readTimeline } from '../../../src/media/probe/timeline.ts';
import {
  countCombed,
  createWork,
  ffmpeg,
  ffprobe,
  MOVING_FIELDS,
  programs,
  temporaryFolder,
} from '../../engines/workspace.ts';
import { samplesOf } from '../../prepare/workspace.ts';

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=s=160x120:r=25:d=1'];
const TONE = (hertz: number) => ['-f', 'lavfi', '-i', `sine=f=${hertz}:r=48000:d=1`];
const TWO_TRACKS = [...TONE(220), ...TONE(880), '-map', '0:v', '-map', '1:a', '-map', '2:a'];
const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264'];
/** Ten frames, then every third one: a screen recording that stands still. */
const UNEVEN = ['-vf', "select='lt(n,10)+not(mod(n,3))'", '-fps_mode', 'vfr'];
const SECOND_DEFAULT = ['-disposition:a:0', '0', '-disposition:a:1', 'default'];

/** Name, how ffmpeg makes it, options, and what is done: `none`, or picture and sound. */
const TABLE: [string, string[], ConversionOptions, string][] = [
  ['plain.mp4', [...TONE(220), ...H264, '-c:a', 'aac'], {}, 'none'],
  ['plain.mkv', [...TONE(220), ...H264, '-c:a', 'aac'], {}, 'copy copy'],
  ['vorbis.mkv', [...TONE(220), ...H264, '-c:a', 'libvorbis'], {}, 'copy encode'],
  [
    'web.webm',
    [...TONE(220), '-c:v', 'libvpx', '-threads', '1', '-deadline', 'realtime', '-c:a', 'libopus'],
    {},
    'encode copy',
  ],
  ['uneven.mp4', [...TONE(220), ...UNEVEN, ...H264, '-c:a', 'aac'], {}, 'none'],
  [
    'uneven split.mp4',
    [...TONE(220), ...UNEVEN, ...H264, '-c:a', 'aac'],
    { willBeSplit: true },
    'encode copy',
  ],
  ['second.mp4', [...TWO_TRACKS, ...SECOND_DEFAULT, ...H264, '-c:a', 'aac'], {}, 'copy copy'],
  ['chosen.mp4', [...TWO_TRACKS, ...H264, '-c:a', 'aac'], { audioTrack: 2 }, 'copy copy'],
];

describe('a file that', () => {
  test.each(TABLE)('is called %s', async (name, options, wishes, expected) => {
    const folder = temporaryFolder();
    const file = join(folder, name);
    ffmpeg(...PICTURE, ...options, file);
    mkdirSync(join(folder, 'work'));
    const work = createWork(join(folder, 'work'));
    const facts = await readFacts(programs, file, work);
    const { isConstant } = await readTimeline(programs, file, facts, work);
    expect(isConstant).toBe(!name.startsWith('uneven'));
    const plan = planConversion(facts, { ...wishes, isConstant });
    if (plan.type === 'impossible') throw new Error(plan.message);
    expect(plan.type === 'none' ? 'none' : `${plan.picture} ${plan.sound}`).toBe(expected);
    if (plan.type === 'none') return;
    expect(plan.reasons.length).toBeGreaterThan(0);
    const path = await convertVideo(programs, file, facts, plan, work);
    expect(basename(path)).toBe(name.replace(/\.\w+$/, '.mp4'));
    // The service's own inspection takes it.
    expect((await inspectVideo(programs, path, work)).container).toBe('mp4');
    if (/second|chosen/.test(name)) expect(pitch(path)).toBe(880);
    if (!wishes.willBeSplit) return;
    const made = await readFacts(programs, path, work);
    expect((await readTimeline(programs, path, made, work)).isConstant).toBe(true);
  });
});

test('interlaced frames of MPEG-2 become progressive when they are converted', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'air.ts');
  const picture = ['-f', 'lavfi', '-i', 'testsrc2=s=720x576:r=50:d=1', ...['-f', 'lavfi', '-i', 'sine=d=1']];
  ffmpeg(...picture, ...MOVING_FIELDS, '-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-c:a', 'mp2', file);
  expect(countCombed(file)).toBeGreaterThan(20);
  mkdirSync(join(folder, 'work'));
  const work = createWork(join(folder, 'work'));
  const facts = await readFacts(programs, file, work);
  const plan = planConversion(facts);
  if (plan.type !== 'convert') throw new Error('it is not converted');
  expect(plan.reasons).toContain('mpeg2video pictures are encoded as H.264');
  const path = await convertVideo(programs, file, facts, plan, work);
  expect(countCombed(path)).toBeLessThan(6);
  expect(ffprobe(path, 'stream=field_order', 'v:0')).toBe('progressive');
});

/** Which tone a video of one second has: it crosses zero twice in each swing. */
function pitch(path: string): number {
  const samples = samplesOf(path);
  const crossings = samples.filter((sample, at) => sample >= 0 !== (samples[at - 1] ?? 0) >= 0).length;
  return Math.round(crossings / 2 / 20) * 20;
}

describe('a file is refused', () => {
  const refused = async (file: string) => {
    const work = createWork(temporaryFolder());
    return planConversion(await readFacts(programs, file, work));
  };

  test('without sound, and sound without a picture, with advice', async () => {
    const folder = temporaryFolder();
    ffmpeg(...PICTURE, ...H264, join(folder, 'silent.mkv'));
    expect(await refused(join(folder, 'silent.mkv'))).toMatchObject({
      code: 'NO_AUDIO_STREAM',
      advice: expect.stringContaining('nothing to recognize'),
    });
    ffmpeg(...TONE(220), join(folder, 'sound.mp4'));
    expect(await refused(join(folder, 'sound.mp4'))).toMatchObject({ code: 'MEDIA_UNSUPPORTED' });
  });

  test('if it lacks the requested audio track: the existing ones are named', async () => {
    const file = join(temporaryFolder(), 'two.mp4');
    ffmpeg(...PICTURE, ...TWO_TRACKS, '-metadata:s:a:1', 'language=spa', ...H264, '-c:a', 'aac', file);
    const facts = await readFacts(programs, file, createWork(temporaryFolder()));
    expect(planConversion(facts, { audioTrack: 3 })).toMatchObject({
      code: 'NO_SUCH_TRACK',
      advice: 'choose one of: 1 (aac); 2 (Spanish, aac)',
    });
    expect(planConversion(facts)).toMatchObject({
      type: 'none',
      reasons: [expect.stringContaining('audio track 1 (aac) is used, the default of 2')],
    });
  });
});

test.each([
  [null, 30],
  [{ num: 1000, den: 37 }, 30000 / 1001],
  [{ num: 25, den: 1 }, 25],
  [{ num: 1000, den: 1 }, 60],
])('the constant rate for a mean of %o is %f', (mean, rate) => {
  const { num, den } = constantRate(mean);
  expect(num / den).toBeCloseTo(rate, 6);
});
