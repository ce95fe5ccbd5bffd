/** Splitting and joining belong together: what comes out must be what went in. */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { convertVideo, planConversion } from '../../../src/media/export/convert.ts';
import { joinVideos } from '../../../src/media/join/join-videos.ts';
import { readFacts } from '../../../src/media/probe/facts.ts';
import { readTimeline } from '../../../src/media/probe/timeline.ts';
import { SAMPLES_BEFORE, SAMPLES_BEHIND } from '../../../src/media/split/limits.ts';
import { splitLongVideo } from '../../../src/media/split/split-long-video.ts';
import { countCombed, createWork, ffmpeg, ffprobe, programs } from '../../engines/workspace.ts';
import { readLongVideo, samplesOf } from '../../prepare/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { streamSums } from '../../support/media.ts';
import { askProgram } from '../../support/remembered-programs.ts';

/** Two parts of a video of two seconds, wherever it can be cut. */
const LIMITS = { equalSeconds: 1.25, mostSeconds: 1.75, mostBytes: 1e9 };

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

test('an MKV with a cover is converted, cut at key frames, and joined with its cover and every frame unchanged, without a seam: its parts have sound of their neighbours, where players do not play it', async () => {
  const folder = makeFolder();
  const cover = join(folder, 'cover.png');
  ffmpeg('-f', 'lavfi', '-i', 'color=red:s=64x64', '-frames:v', '1', cover);
  const original = join(folder, 'a talk 100%d.mkv');
  ffmpeg(
    ...['-f', 'lavfi', '-i', 'testsrc=s=160x120:r=25:d=2', '-f', 'lavfi', '-i', 'sine=f=220:r=48000:d=2'],
    ...[
      ...H264,
      '-g',
      '5',
      '-bf',
      '2',
      '-c:a',
      'aac',
      '-attach',
      cover,
      '-metadata:s:t',
      'mimetype=image/png',
    ],
    ...['-metadata:s:t', 'filename=cover.png', '-metadata', `creation_time=${DATE}`, original],
  );
  const work = createWork(folder);
  const facts = await readFacts(programs, original, work);
  const plan = planConversion(facts);
  if (plan.type !== 'convert') throw new Error('it is not converted');
  const converted = await convertVideo(programs, original, facts, plan, work);
  const long = await readLongVideo(converted, folder);
  // From the first frame on.
  const before = samplesOf(converted).subarray(Math.round(long.timeline.startSeconds * 48_000));
  const split = await splitLongVideo(programs, long, work, LIMITS);
  expect(split.picture).toBe('copied');
  const paths = split.parts.map((part) => part.path);
  const names = paths.map((path) => basename(path));
  expect(names).toEqual(['a talk 100%d.part1of2.mp4', 'a talk 100%d.part2of2.mp4']);
  const seam = split.parts[1]?.firstSample ?? 0;
  const [first, second] = paths.map(samplesOf);
  if (first === undefined || second === undefined) throw new Error('it has two parts');
  expect(first.length).toBeGreaterThanOrEqual(seam + SAMPLES_BEHIND);
  expect(difference(first, before, seam, seam + 2048)).toBeLessThan(20);
  const [begins] = ffprobe(paths[1] ?? '', 'packet=pts_time', 'a:0').split('\n');
  const encoderDelay = 1024; // of AAC as ffmpeg writes it
  expect(Number(begins)).toBeCloseTo(-(SAMPLES_BEFORE + encoderDelay) / 48_000, 4);
  expect(difference(second, before.subarray(seam), 0, 480)).toBeLessThan(20);

  const task = { name: 'joined.mp4', source: original };
  const joined = await joinVideos(programs, paths, split, task, createWork(folder));
  expect(joined).toMatchObject({ frames: 50, picture: 'copied', changedParts: [] });
  const files = [original, joined.path];
  const [asMade, asJoined] = streamSums(files, ['0:v:0', '1:v:0'], 'decoded');
  expect(asJoined).toEqual(asMade);
  const after = samplesOf(joined.path);
  // The tone has a root mean square of 2,900: sound that is moved by an encoder's delay would differ by as much.
  expect(difference(before, after, 12_000, 24_000)).toBeLessThan(60);
  expect(difference(before, after, seam - 480, seam + 480)).toBeLessThan(60);
  expect(difference(before, after, seam + 12_000, seam + 24_000)).toBeLessThan(60);
  const entries = 'stream=codec_name:stream_disposition=attached_pic:format_tags=creation_time';
  expect(ffprobe(joined.path, entries, 'v:1')).toBe(`png\n1\n${DATE}`);

  // In a codec that MP4 cannot hold it would have to be encoded, although it has key frames.
  const camera = long.facts.picture && { ...long.facts.picture, codec: 'prores' };
  const uncut = await readTimeline(programs, converted, { ...long.facts, picture: camera }, work);
  expect([long.timeline.cleanFrames.length > 0, uncut.cleanFrames]).toEqual([true, []]);
});

test('an interlaced video is cut by encoding it, and becomes one progressive video of the same length and shape if its parts return interlaced, anamorphic, with soft subtitles and encoded in different ways', async () => {
  const folder = makeFolder();
  const path = join(folder, 'field.mp4');
  const sound = ['-f', 'lavfi', '-i', 'sine=f=220:r=48000:d=2'];
  ffmpeg(...moving(2), ...sound, ...FIELDS, '-g', '1000', '-c:a', 'aac', path);
  const work = createWork(folder);
  const split = await splitLongVideo(programs, await readLongVideo(path, folder), work, LIMITS);
  expect(split.picture).toBe('encoded');
  const results = split.parts.map((part, at) => {
    const seconds = part.frames * FRAME_SECONDS;
    expect(seconds).toBeLessThanOrEqual(LIMITS.mostSeconds);
    const srt = join(folder, `${at}.srt`);
    writeFileSync(srt, `1\n00:00:00,300 --> 00:00:00,600\nPart ${at}\n\n`);
    const result = join(folder, `result-${at}.mp4`);
    const inputs = [...moving(seconds), '-i', part.path, '-i', srt];
    const kept = ['-map', '0:v', '-map', '1:a', '-map', '2:s', '-metadata:s:s:0', 'language=spa'];
    // Encoded without the sound around the part, as a service does: its encoder begins with silence.
    const coding = ['-c:a', 'aac', '-b:a', '160k', '-c:s', 'mov_text', '-bf', at === 0 ? '0' : '2'];
    ffmpeg(...inputs, ...kept, ...FIELDS, ...coding, result);
    return result;
  });
  // The detector takes a few of 30 progressive frames for combed.
  expect(countCombed(split.parts[0]?.path ?? '')).toBeLessThan(10);
  expect(countCombed(results[0] ?? '')).toBeGreaterThan(20);
  const joined = await joinVideos(programs, results, split, { name: 'joined.mp4', source: path }, work);
  expect(joined).toMatchObject({ frames: 60, picture: 'encoded' });
  expect(countCombed(joined.path)).toBeLessThan(10);
  const entries = 'stream=codec_type,sample_aspect_ratio:stream_tags=language:format=duration';
  const found = ffprobe(joined.path, entries).split('\n');
  expect(found.slice(0, -1)).toEqual(['video', '16:15', 'und', 'audio', 'und', 'subtitle', 'spa']);
  expect(Math.abs(Number(found.at(-1)) - 60 * FRAME_SECONDS)).toBeLessThan(FRAME_SECONDS);
  const srt = askProgram('ffmpeg', ['-v', 'error', '-i', joined.path, '-f', 'srt', '-']).toString();
  const second = Math.round(1000 * ((split.parts[1]?.firstFrame ?? 0) * FRAME_SECONDS + 0.3)) / 1000;
  expect(srt).toContain('00:00:00,300 --> 00:00:00,600\nPart 0');
  expect(srt).toContain(`00:00:0${second.toFixed(3).replace('.', ',')} --> `);
  const seam = split.parts[1]?.firstSample ?? 0;
  expect(difference(samplesOf(path), samplesOf(joined.path), seam - 480, seam + 2048)).toBeLessThan(20);
});
