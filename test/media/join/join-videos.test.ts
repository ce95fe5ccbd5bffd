/** Splitting and joining belong together: what comes out must be what went in. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { convertVideo, planConversion } from '../../../src/media/export/convert.ts';
import { joinVideos } from '../../../src/media/join/join-videos.ts';
import { readFacts } from '../../../src/media/probe/facts.ts';
import { SAMPLES_BEFORE, SAMPLES_BEHIND } from '../../../src/media/split/limits.ts';
import { splitLongVideo } from '../../../src/media/split/split-long-video.ts';
import type { VideoSplit } from '../../../src/media/split/split-video.ts';
import { countCombed, createWork, detectFields, ffmpeg, ffprobe, programs } from '../../engines/workspace.ts';
import { frameDigests, makeVideo, readLongVideo, samplesOf } from '../../prepare/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { askProgram } from '../../support/remembered-programs.ts';

/** Two parts of a video of four seconds, wherever it can be cut. */
const LIMITS = { equalSeconds: 2.5, mostSeconds: 3.5, mostBytes: 1e9 };

const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast'];

const DATE = '2021-03-04T05:06:07.000000Z';

/** Options that make interlaced frames of twice as many pictures. */
const FIELDS = [
  ...['-vf', 'tinterlace=interleave_top,fieldorder=tff,setsar=16/15', ...H264],
  ...['-flags', '+ilme+ildct', '-x264opts', 'tff=1'],
];
const FRAME_SECONDS = 1001 / 30000;
const moving = (seconds: number) => [
  ...['-f', 'lavfi', '-i', `testsrc2=s=160x128:r=60000/1001:d=${seconds}`],
];

/** Root of the mean square of the difference, where both are heard at the same place. */
function difference(left: Int16Array, right: Int16Array, from: number, to: number): number {
  let sum = 0;
  for (let at = from; at < to; at += 1) sum += ((left[at] ?? 0) - (right[at] ?? 0)) ** 2;
  return Math.sqrt(sum / (to - from));
}

describe('an MKV with a cover that is converted and cut at key frames', () => {
  let folder = '';
  let original = '';
  /** From the first frame on. */
  let before: Int16Array;
  let split: VideoSplit;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'vloc-test-'));
    const cover = join(folder, 'cover.png');
    ffmpeg('-f', 'lavfi', '-i', 'color=red:s=64x64', '-frames:v', '1', cover);
    const plain = makeVideo(folder, 'plain.mp4', 4, ...H264, '-g', '5', '-bf', '2', '-c:a', 'aac');
    original = join(folder, 'a talk 100%d.mkv');
    const attached = ['-attach', cover, '-metadata:s:t', 'mimetype=image/png'];
    const tags = ['-metadata:s:t', 'filename=cover.png', '-metadata', `creation_time=${DATE}`];
    ffmpeg('-i', plain, '-c', 'copy', ...attached, ...tags, original);
    const work = createWork(folder);
    const facts = await readFacts(programs, original, work);
    const plan = planConversion(facts);
    if (plan.type !== 'convert') throw new Error('it is not converted');
    const converted = await convertVideo(programs, original, facts, plan, work);
    const long = await readLongVideo(converted, folder);
    before = samplesOf(converted).subarray(Math.round(long.timeline.startSeconds * 48_000));
    split = await splitLongVideo(programs, long, work, LIMITS);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const seamOf = () => split.parts[1]?.firstSample ?? 0;

  test('is joined with every frame unchanged, without a seam, and with its cover', async () => {
    expect(split.picture).toBe('copied');
    const paths = split.parts.map((part) => part.path);
    const names = paths.map((path) => basename(path));
    expect(names).toEqual(['a talk 100%d.part1of2.mp4', 'a talk 100%d.part2of2.mp4']);
    const joined = await joinVideos(
      programs,
      paths,
      split,
      { name: 'joined.mp4', source: original },
      createWork(folder),
    );
    expect(joined).toMatchObject({ frames: 100, picture: 'copied', changedParts: [] });
    expect(frameDigests(joined.path)).toEqual(frameDigests(original));
    const after = samplesOf(joined.path);
    // The tone has a root mean square of 2,900: sound that is moved by an encoder's delay would differ by as much.
    expect(difference(before, after, 24_000, 72_000)).toBeLessThan(60);
    expect(difference(before, after, seamOf() - 480, seamOf() + 480)).toBeLessThan(60);
    expect(difference(before, after, seamOf() + 24_000, seamOf() + 72_000)).toBeLessThan(60);
    const entries = 'stream=codec_name:stream_disposition=attached_pic:format_tags=creation_time';
    expect(ffprobe(joined.path, entries, 'v:1')).toBe(`png\n1\n${DATE}`);
  });

  test('has parts whose sound continues after the last frame, and begins before the first one, where players do not play it', () => {
    const [first, second] = split.parts.map((part) => samplesOf(part.path));
    if (first === undefined || second === undefined) throw new Error('it has two parts');
    expect(first.length).toBeGreaterThanOrEqual(seamOf() + SAMPLES_BEHIND);
    expect(difference(first, before, seamOf(), seamOf() + 2048)).toBeLessThan(20);
    const [begins] = ffprobe(split.parts[1]?.path ?? '', 'packet=pts_time', 'a:0').split('\n');
    const encoderDelay = 1024; // of AAC as ffmpeg writes it
    expect(Number(begins)).toBeCloseTo(-(SAMPLES_BEFORE + encoderDelay) / 48_000, 4);
    expect(difference(second, before.subarray(seamOf()), 0, 480)).toBeLessThan(20);
  });
});

test('an interlaced video is cut by encoding it, and becomes one progressive video of the same length and shape if its parts return interlaced, anamorphic, with soft subtitles and encoded in different ways', async () => {
  const folder = makeFolder();
  const path = join(folder, 'field.mp4');
  const sound = ['-f', 'lavfi', '-i', 'sine=f=220:r=48000:d=4'];
  ffmpeg(...moving(4), ...sound, ...FIELDS, '-g', '1000', '-c:a', 'aac', path);
  const work = createWork(folder);
  const split = await splitLongVideo(programs, await readLongVideo(path, folder), work, LIMITS);
  expect(split.picture).toBe('encoded');
  const results = split.parts.map((part, at) => {
    const { frames, combed } = detectFields(part.path);
    expect(frames).toBe(part.frames);
    // The detector takes a few of 60 progressive frames for combed.
    expect(combed[0]).toBeLessThan(10);
    expect(frames * FRAME_SECONDS).toBeLessThanOrEqual(LIMITS.mostSeconds);
    const srt = join(folder, `${at}.srt`);
    writeFileSync(srt, `1\n00:00:01,000 --> 00:00:02,000\nPart ${at}\n\n`);
    const result = join(folder, `result-${at}.mp4`);
    const inputs = [...moving(frames * FRAME_SECONDS), '-i', part.path, '-i', srt];
    const kept = ['-map', '0:v', '-map', '1:a', '-map', '2:s', '-metadata:s:s:0', 'language=spa'];
    // Encoded without the sound around the part, as a service does: its encoder begins with silence.
    const coding = ['-c:a', 'aac', '-b:a', '160k', '-c:s', 'mov_text', '-bf', at === 0 ? '0' : '2'];
    ffmpeg(...inputs, ...kept, ...FIELDS, ...coding, result);
    return result;
  });
  expect(countCombed(results[0] ?? '')).toBeGreaterThan(20);
  const joined = await joinVideos(programs, results, split, { name: 'joined.mp4', source: path }, work);
  expect(joined).toMatchObject({ frames: 120, picture: 'encoded' });
  expect(countCombed(joined.path)).toBeLessThan(10);
  const entries = 'stream=codec_type,sample_aspect_ratio:stream_tags=language:format=duration';
  const found = ffprobe(joined.path, entries).split('\n');
  expect(found.slice(0, -1)).toEqual(['video', '16:15', 'und', 'audio', 'und', 'subtitle', 'spa']);
  expect(Math.abs(Number(found.at(-1)) - 120 * FRAME_SECONDS)).toBeLessThan(FRAME_SECONDS);
  const srt = askProgram('ffmpeg', ['-v', 'error', '-i', joined.path, '-f', 'srt', '-']).toString();
  const second = Math.round(1000 * ((split.parts[1]?.firstFrame ?? 0) * FRAME_SECONDS + 1)) / 1000;
  expect(srt).toContain('00:00:01,000 --> 00:00:02,000\nPart 0');
  expect(srt).toContain(`00:00:0${second.toFixed(3).replace('.', ',')} --> `);
  const seam = split.parts[1]?.firstSample ?? 0;
  expect(difference(samplesOf(path), samplesOf(joined.path), seam - 480, seam + 2048)).toBeLessThan(20);
});

test('a picture that MP4 cannot hold is not cut without encoding it, although each frame is a key frame', async () => {
  const folder = makeFolder();
  const path = makeVideo(folder, 'camera.mov', 1, '-c:v', 'prores', '-c:a', 'pcm_s16le');
  const { timeline } = await readLongVideo(path, folder);
  expect(timeline).toMatchObject({ frames: 25, cleanFrames: [] });
});
