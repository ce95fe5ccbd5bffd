/** Splitting and joining belong together: what comes out must be what went in. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { convertVideo, planConversion } from '../../../src/media/export/convert.ts';
import { joinVideos } from '../../../src/media/join/join-videos.ts';
import { readFacts } from '../../../src/media/probe/facts.ts';
import { SAMPLES_BEFORE, SAMPLES_BEHIND } from '../../../src/media/split/limits.ts';
import { splitLongVideo } from '../../../src/media/split/split-long-video.ts';
import {
  countCombed,
  createWork,
  ffmpeg,
  ffprobe,
  programs,
  temporaryFolder,
} from '../../engines/workspace.ts';
import { frameDigests, makeVideo, readLongVideo, samplesOf } from '../../prepare/workspace.ts';

/** Parts of three seconds, so that six are long. */
const LIMITS = { equalSeconds: 3, mostSeconds: 4, mostBytes: 1e9 };

/** Of videos with many key frames, which several tests split in the same way. */
const CODING = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '5', '-bf', '2', '-c:a', 'aac'];

/** Options that make interlaced frames of 50 pictures a second, small ones: each is decoded and encoded several times. */
const FIELDS = [...['-vf', 'fps=50,tinterlace=interleave_top,fieldorder=tff', '-pix_fmt', 'yuv420p']];

async function splitAndJoin(path: string, limits = LIMITS) {
  const folder = temporaryFolder();
  const work = createWork(folder);
  const split = await splitLongVideo(programs, await readLongVideo(path, folder), work, limits);
  const results = split.parts.map((part) => part.path);
  const joined = await joinVideos(programs, results, split, { name: 'joined.mp4' }, work);
  return { split, joined };
}

/** Root of the mean square of the difference, where both are heard at the same place. */
function difference(left: Int16Array, right: Int16Array, from: number, to: number): number {
  let sum = 0;
  for (let at = from; at < to; at += 1) sum += ((left[at] ?? 0) - (right[at] ?? 0)) ** 2;
  return Math.sqrt(sum / (to - from));
}

describe('a video that is split and joined', () => {
  test('keeps every frame unchanged and has no seam if the cuts are at key frames', async () => {
    const path = makeVideo(temporaryFolder(), 'a talk 100%d.mp4', 6, ...CODING);
    const { split, joined } = await splitAndJoin(path);
    expect(split.picture).toBe('copied');
    const names = split.parts.map((part) => basename(part.path));
    expect(names).toEqual(['a talk 100%d.part1of2.mp4', 'a talk 100%d.part2of2.mp4']);
    expect(joined).toMatchObject({ frames: 150, picture: 'copied', changedParts: [] });
    expect(frameDigests(joined.path)).toEqual(frameDigests(path));
    const before = samplesOf(path);
    const after = samplesOf(joined.path);
    const seam = split.parts[1]?.firstSample ?? 0;
    // The tone has a root mean square of 2,900: sound that is moved by an encoder's delay would differ by as much.
    expect(difference(before, after, 48_000, 96_000)).toBeLessThan(60);
    expect(difference(before, after, seam - 480, seam + 480)).toBeLessThan(60);
    expect(difference(before, after, seam + 48_000, seam + 96_000)).toBeLessThan(60);
  });

  test('keeps the number of frames and its length if the picture must be encoded', async () => {
    const coding = [
      '-r',
      '30000/1001',
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-g',
      '1000',
      '-c:a',
      'aac',
    ];
    const path = makeVideo(temporaryFolder(), 'long.mp4', 6, ...coding);
    const { split, joined } = await splitAndJoin(path);
    expect(split.picture).toBe('encoded');
    expect(joined.frames).toBe(Number(ffprobe(path, 'stream=nb_frames', 'v:0')));
    const lasts = (file: string) => Number(ffprobe(file, 'format=duration'));
    expect(Math.abs(lasts(joined.path) - lasts(path))).toBeLessThan(1001 / 30000);
    for (const part of split.parts) expect(lasts(part.path)).toBeLessThanOrEqual(LIMITS.mostSeconds + 0.1);
  });
});

test('parts that were returned with soft subtitles and other encodings become one video', async () => {
  const folder = temporaryFolder();
  const coding = ['-pix_fmt', 'yuv420p', ...CODING];
  const path = makeVideo(folder, 'soft.mp4', 6, ...coding);
  const work = createWork(folder);
  const split = await splitLongVideo(programs, await readLongVideo(path, folder), work, LIMITS);
  const results = split.parts.map((part, at) => {
    const srt = join(folder, `${at}.srt`);
    writeFileSync(srt, `1\n00:00:01,000 --> 00:00:02,000\nPart ${at}\n\n`);
    const result = join(folder, `result-${at}.mp4`);
    const picture = at === 0 ? ['-c', 'copy'] : ['-c:v', 'libx264', '-profile:v', 'baseline', '-c:a', 'copy'];
    const soft = ['-c:s', 'mov_text', '-metadata:s:s:0', 'language=spa'];
    ffmpeg('-i', part.path, '-i', srt, ...picture, ...soft, result);
    return result;
  });
  const joined = await joinVideos(programs, results, split, { name: 'joined.mp4' }, work);
  expect(joined).toMatchObject({ frames: 150, picture: 'encoded' });
  expect(ffprobe(joined.path, 'stream_tags=language', 's:0')).toBe('spa');
  const back = join(folder, 'back.srt');
  ffmpeg('-i', joined.path, back);
  const second = (split.parts[1]?.firstFrame ?? 0) / 25 + 1;
  expect(readFileSync(back, 'utf8')).toContain('00:00:01,000 --> 00:00:02,000\nPart 0');
  expect(readFileSync(back, 'utf8')).toContain(`00:00:0${second.toFixed(3).replace('.', ',')} --> `);
});

test('an interlaced video that is cut by encoding it has no combed frames', async () => {
  const folder = temporaryFolder();
  const path = join(folder, 'field.mov');
  const picture = ['-f', 'lavfi', '-i', 'testsrc2=s=320x256:r=50:d=6', ...['-f', 'lavfi', '-i', 'sine=d=6']];
  const coding = ['-c:v', 'mpeg2video', '-flags', '+ilme+ildct', '-g', '1000', '-c:a', 'aac'];
  ffmpeg(...picture, ...FIELDS, ...coding, path);
  expect(countCombed(path)).toBeGreaterThan(100);
  const { split, joined } = await splitAndJoin(path);
  expect(split.picture).toBe('encoded');
  // The detector takes a few of 75 progressive frames for combed.
  for (const part of split.parts) expect(countCombed(part.path)).toBeLessThan(10);
  expect(joined.frames).toBe(150);
});

test('interlaced, anamorphic parts of different encodings become one progressive video of the same shape', async () => {
  const folder = temporaryFolder();
  const path = makeVideo(folder, 'shape.mp4', 6, '-s', '320x256', '-pix_fmt', 'yuv420p', ...CODING);
  const work = createWork(folder);
  const split = await splitLongVideo(programs, await readLongVideo(path, folder), work, LIMITS);
  const results = split.parts.map((part, at) => {
    const result = join(folder, `result-${at}.mp4`);
    const moving = ['-f', 'lavfi', '-i', `testsrc2=s=320x256:r=50:d=${part.frames / 25}`];
    const [filters = '', graph = '', ...format] = FIELDS;
    const picture = [
      filters,
      `${graph},setsar=16/15`,
      ...format,
      '-c:v',
      'libx264',
      '-flags',
      '+ilme+ildct',
      '-x264opts',
      'tff=1',
    ];
    const profile = at === 0 ? 'main' : 'high';
    const kept = ['-map', '0:v', '-map', '1:a', '-c:a', 'copy'];
    ffmpeg(...moving, '-i', part.path, ...kept, ...picture, '-profile:v', profile, result);
    expect(countCombed(result)).toBeGreaterThan(30);
    return result;
  });
  const joined = await joinVideos(programs, results, split, { name: 'joined.mp4' }, work);
  expect(joined).toMatchObject({ frames: 150, picture: 'encoded' });
  expect(countCombed(joined.path)).toBeLessThan(10);
  expect(ffprobe(joined.path, 'stream=sample_aspect_ratio', 'v:0')).toBe('16:15');
});

test('a picture that MP4 cannot hold is not cut without encoding it, although each frame is a key frame', async () => {
  const folder = temporaryFolder();
  const path = makeVideo(folder, 'camera.mov', 6, '-c:v', 'prores', '-c:a', 'pcm_s16le');
  const { timeline } = await readLongVideo(path, folder);
  expect(timeline).toMatchObject({ frames: 150, cleanFrames: [] });
});

test('the cover of an MKV is kept when it is converted, split and joined', async () => {
  const folder = temporaryFolder();
  const cover = join(folder, 'cover.png');
  ffmpeg('-f', 'lavfi', '-i', 'color=red:s=64x64', '-frames:v', '1', cover);
  const plain = makeVideo(folder, 'plain.mp4', 6, '-pix_fmt', 'yuv420p', ...CODING);
  const path = join(folder, 'talk.mkv');
  const attached = ['-attach', cover, '-metadata:s:t', 'mimetype=image/png'];
  ffmpeg('-i', plain, '-c', 'copy', ...attached, '-metadata:s:t', 'filename=cover.png', path);
  mkdirSync(join(folder, 'work'));
  const work = createWork(join(folder, 'work'));
  const facts = await readFacts(programs, path, work);
  const plan = planConversion(facts);
  if (plan.type !== 'convert') throw new Error('it is not converted');
  const { joined } = await splitAndJoin(await convertVideo(programs, path, facts, plan, work));
  expect(joined.frames).toBe(150);
  expect(ffprobe(joined.path, 'stream=codec_name:stream_disposition=attached_pic', 'v:1')).toBe('png\n1');
});

describe('the sound of a part', () => {
  test('continues after its last frame, and begins before its first one where players do not play it', async () => {
    const path = makeVideo(temporaryFolder(), 'talk.mp4', 6, ...CODING);
    const folder = temporaryFolder();
    const long = await readLongVideo(path, folder);
    const { parts } = await splitLongVideo(programs, long, createWork(folder), LIMITS);
    const whole = samplesOf(path);
    const [first, second] = parts.map((part) => samplesOf(part.path));
    const seam = parts[1]?.firstSample ?? 0;
    if (first === undefined || second === undefined) throw new Error('it has two parts');
    expect(first.length).toBeGreaterThanOrEqual(seam + SAMPLES_BEHIND);
    expect(difference(first, whole, seam, seam + 2048)).toBeLessThan(20);
    const [begins] = ffprobe(parts[1]?.path ?? '', 'packet=pts_time', 'a:0').split('\n');
    const encoderDelay = 1024; // of AAC as ffmpeg writes it
    expect(Number(begins)).toBeCloseTo(-(SAMPLES_BEFORE + encoderDelay) / 48_000, 4);
    expect(difference(second, whole.subarray(seam), 0, 480)).toBeLessThan(20);
  });

  test('joins the next one without a flaw if the service has encoded each again, after silence', async () => {
    const path = makeVideo(temporaryFolder(), 'talk.mp4', 6, ...CODING);
    const folder = temporaryFolder();
    const work = createWork(folder);
    const split = await splitLongVideo(programs, await readLongVideo(path, folder), work, LIMITS);
    const results = split.parts.map((part, at) => {
      const result = join(folder, `result-${at}.mp4`);
      const wav = join(folder, `result-${at}.wav`);
      ffmpeg('-i', part.path, '-map', '0:a:0', wav);
      const sound = ['-map', '1:a', '-c:a', 'aac', '-b:a', '160k'];
      ffmpeg('-i', part.path, '-i', wav, '-map', '0:v', '-c:v', 'copy', ...sound, result);
      return result;
    });
    const joined = await joinVideos(programs, results, split, { name: 'joined.mp4' }, work);
    const [before, after] = [samplesOf(path), samplesOf(joined.path)];
    const seam = split.parts[1]?.firstSample ?? 0;
    expect(difference(before, after, seam - 480, seam + 2048)).toBeLessThan(20);
  });
});
