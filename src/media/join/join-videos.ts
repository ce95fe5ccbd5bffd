/** Joins the localized parts of a video: every frame exactly once, and sound without audible seams. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createWav } from '../audio/wav.ts';
import {
  aacArguments,
  copyPicture,
  coverArguments,
  DEINTERLACE,
  encodePicture,
  keepTags,
  ON_TIME,
  PCM,
  SAMPLE_RATE,
  stereoAtMost,
} from '../encode/encoders.ts';
import {
  countFrames,
  formatFraction,
  type PictureFrames,
  readFacts,
  secondsOf,
  type VideoFacts,
} from '../probe/facts.ts';
import {
  convertibleInput,
  ENCODER_LIMITS,
  fileAddress,
  ownInput,
  QUIET,
  trackProgress,
} from '../programs/arguments.ts';
import { explainFailures, PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import { SAMPLES_BEHIND } from '../split/limits.ts';
import type { VideoSplit } from '../split/split-video.ts';
import { collectSubtitles, type JoinedSubtitle } from '../split/subtitle-parts.ts';
import type { Work } from '../work.ts';
import { appendPieces } from './join-sound.ts';

export interface JoinedVideo {
  readonly path: string;
  readonly frames: number;
  readonly durationSeconds: number;
  /** Numbers of the parts, from 1, whose frame count differs from the count that was sent. */
  readonly changedParts: readonly number[];
  /** `copied`: the same as in the parts; `encoded`: encoded again, because the encodings of the parts differ. */
  readonly picture: 'copied' | 'encoded';
}

const LIST = 'join.ffconcat';

interface JoinPart {
  readonly facts: VideoFacts;
  /** Path of a file with only the picture. */
  readonly picture: string;
  readonly count: PictureFrames;
  readonly sound: string;
  /** Audio channels. All parts use the count of the first part. */
  readonly channels: number;
}

/**
 * Writes one MP4 into the work folder. The sound of the parts is decoded, joined at the sample positions of the split
 * and encoded once, so encoder delay and padding leave no gaps. The picture is copied if all parts have the same
 * encoding. Soft subtitles are joined too, and the tags of the source, such as its date, are kept.
 * @param results the parts as the service returned them, in order
 * @throws PreparationFailure JOIN_NOT_EXACT if a frame would be lost or doubled
 */
export async function joinVideos(
  programs: Programs,
  results: readonly string[],
  split: VideoSplit,
  task: { readonly name: string; readonly source: string },
  work: Work,
): Promise<JoinedVideo> {
  if (results.length !== split.parts.length)
    throw new Error('every part of the split must be given, in order');
  return explainFailures('the parts cannot be joined', async () => {
    const parts: JoinPart[] = [];
    for (const [index, result] of results.entries()) {
      parts.push(
        await takeApart(programs, result, { index, split, channels: parts[0]?.channels ?? null }, work),
      );
      work.report((index + 1) / (2 * results.length + 2));
    }
    const sound = await joinSound(parts, split, work);
    const subtitle = await collectSubtitles(
      programs,
      parts.map(({ facts }, at) => ({ facts, path: results[at] ?? '' })),
      split,
      work,
    );
    const path = join(work.folder, task.name);
    const sameCoding = new Set(parts.map(({ count }) => count.parameters)).size === 1;
    await write(programs, { parts, split, sound, subtitle, sameCoding, source: task.source, path }, work);
    const { frames } = await countFrames(programs, path, work);
    const expected = parts.reduce((sum, { count }) => sum + count.frames, 0);
    if (frames !== expected) {
      const message = `the joined video has ${frames} frames, its parts have ${expected}`;
      throw new PreparationFailure('JOIN_NOT_EXACT', message, 'keep the parts: they are complete');
    }
    const left = [sound, ...parts.flatMap((part) => [part.picture, part.sound])];
    const lists = [join(work.folder, LIST), ...(subtitle === null ? [] : [subtitle.path])];
    await Promise.all([...left, ...lists].map((file) => rm(file, { force: true })));
    return {
      path,
      frames,
      durationSeconds: split.parts.reduce((sum, part) => sum + part.samples, 0) / SAMPLE_RATE,
      changedParts: parts.flatMap(({ count }, at) =>
        count.frames === split.parts[at]?.frames ? [] : [at + 1],
      ),
      picture: sameCoding ? 'copied' : 'encoded',
    };
  });
}

/**
 * Extracts picture and sound of one part into separate files, so that the join step never opens files from the service.
 */
async function takeApart(
  programs: Programs,
  result: string,
  { index, split, channels }: { index: number; split: VideoSplit; channels: number | null },
  work: Work,
): Promise<JoinPart> {
  const facts = await readFacts(programs, result, work);
  const track = facts.tracks[0];
  if (facts.picture === null || track === undefined) {
    const message = `part ${index + 1} came back without ${track === undefined ? 'sound' : 'a picture'}`;
    throw new PreparationFailure('MEDIA_UNSUPPORTED', message, 'run the part again: `vloc batch retry DIR`');
  }
  const picture = join(work.folder, `join-${index}.mp4`);
  const sound = join(work.folder, `join-${index}.wav`);
  const samples = split.parts[index]?.samples ?? 0;
  const width = channels ?? stereoAtMost(track.channels);
  // ffmpeg's default conversion from mono to stereo lowers the level by 3 dB.
  const widen = width === 2 && track.channels === 1 ? ',pan=stereo|c0=c0|c1=c0' : '';
  const exact = `${ON_TIME}${widen},apad=whole_len=${samples},atrim=end_sample=${samples + SAMPLES_BEHIND}`;
  const args = [
    ...[...QUIET, ...convertibleInput(result)],
    ...[
      '-map',
      `0:${facts.picture.index}`,
      ...copyPicture(facts.picture.codec),
      ...coverArguments(facts),
      '-f',
      'mp4',
      fileAddress(picture),
    ],
    ...['-map', `0:${track.index}`, '-af', exact, '-ac', String(width), ...PCM, fileAddress(sound)],
  ];
  await programs.run('ffmpeg', args, { ...work, limits: ENCODER_LIMITS });
  return { facts, picture, sound, channels: width, count: await countFrames(programs, picture, work) };
}

async function joinSound(parts: readonly JoinPart[], split: VideoSplit, work: Work): Promise<string> {
  const path = join(work.folder, 'join.wav');
  const pieces = parts.map(({ sound }, at) => ({ path: sound, frames: split.parts[at]?.samples ?? 0 }));
  const out = await createWav(path, { sampleRate: SAMPLE_RATE, channels: parts[0]?.channels ?? 2 });
  await appendPieces(pieces, out).finally(() => out.close());
  return path;
}

interface Writing {
  readonly parts: readonly JoinPart[];
  readonly split: VideoSplit;
  readonly sound: string;
  readonly subtitle: JoinedSubtitle | null;
  readonly sameCoding: boolean;
  readonly source: string;
  readonly path: string;
}

async function write(programs: Programs, writing: Writing, work: Work): Promise<void> {
  const { parts, split, sound, subtitle, sameCoding, source, path } = writing;
  const picture = sameCoding ? await listParts(parts, split, work.folder) : encodeParts(parts, split);
  const language = parts[0]?.facts.tracks[0]?.language ?? null;
  // The file with the picture of the first part has its covers behind it.
  const covers = (parts[0]?.facts.covers ?? []).map((_, at) => at + 1);
  const coverInput = picture.count + (subtitle === null ? 1 : 2);
  const args = [
    ...[...QUIET, '-progress', 'pipe:1', ...picture.inputs],
    ...ownInput(sound, 'wav'),
    ...(subtitle === null ? [] : ownInput(subtitle.path, 'srt')),
    ...(covers.length === 0 ? [] : ownInput(parts[0]?.picture ?? '', 'mov')),
    ...convertibleInput(source),
    ...picture.output,
    ...['-map', `${picture.count}:a:0`, ...aacArguments(parts[0]?.channels ?? 2)],
    ...(language === null ? [] : ['-metadata:s:a:0', `language=${language}`]),
    ...(subtitle === null ? [] : ['-map', `${picture.count + 1}:s:0`, '-c:s', 'mov_text']),
    ...(subtitle?.language ? ['-metadata:s:s:0', `language=${subtitle.language}`] : []),
    ...(subtitle === null ? [] : ['-disposition:s:0', 'default']),
    ...coverArguments({ covers }, coverInput),
    ...keepTags(coverInput + (covers.length === 0 ? 0 : 1)),
    ...['-movflags', '+faststart', '-f', 'mp4', fileAddress(path)],
  ];
  const seconds = split.parts.reduce((sum, part) => sum + part.samples, 0) / SAMPLE_RATE;
  const onLine = trackProgress(seconds, (part) => work.report(0.5 + part / 2));
  await programs.run('ffmpeg', args, { ...work, onLine, limits: ENCODER_LIMITS });
}

/**
 * Writes a list for ffmpeg's `concat` demuxer. It states the length of each part, so that rounding errors do not add
 * up.
 */
async function listParts(
  parts: readonly JoinPart[],
  { frameRate, parts: ranges }: VideoSplit,
  folder: string,
) {
  const rows = parts.map((_, at) => {
    const seconds = secondsOf(ranges[at]?.frames ?? 0, frameRate);
    return `file 'join-${at}.mp4'\nduration ${seconds.toFixed(6)}\n`;
  });
  const list = join(folder, LIST);
  await writeFile(list, `ffconcat version 1.0\n${rows.join('')}`);
  const whitelist = ['-format_whitelist', 'concat,mov'];
  return {
    inputs: [...whitelist, ...ownInput(list, 'concat')],
    count: 1,
    output: ['-map', '0:v:0', ...copyPicture(parts[0]?.count.codec ?? '')],
  };
}

/** Decodes all parts and encodes them once. Counts frames, so that none is doubled or dropped. */
function encodeParts(parts: readonly JoinPart[], { frameRate }: VideoSplit) {
  const { width = 0, height = 0, hdr = null, isDeep = false, pixelAspect = '1' } = parts[0]?.count ?? {};
  const even = (side: number) => side - (side % 2);
  const size = `${DEINTERLACE},scale=${even(width)}:${even(height)},setsar=${pixelAspect},format=${hdr === null && !isDeep ? 'yuv420p' : 'yuv420p10le'}`;
  const scaled = parts.map((_, at) => `[${at}:v:0]${size}[v${at}]`);
  const all = parts.map((_, at) => `[v${at}]`).join('');
  const count = `setpts=N*${frameRate.den}/(${frameRate.num}*TB)`;
  const graph = `${scaled.join(';')};${all}concat=n=${parts.length}:v=1:a=0,${count}[picture]`;
  return {
    inputs: parts.flatMap(({ picture }) => ownInput(picture, 'mov')),
    count: parts.length,
    output: [
      '-filter_complex',
      graph,
      '-map',
      '[picture]',
      '-r',
      formatFraction(frameRate),
      ...encodePicture({ hdr, isDeep }),
    ],
  };
}
