/**
 * Cuts a video at frame boundaries: no frame is lost or doubled, and the sound is cut at the sample where the frame
 * begins.
 */
import { rm, stat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { mixUnplaced } from '../audio/mix-down.ts';
import { openWav } from '../audio/wav.ts';
import {
  aacArguments,
  copyPicture,
  coverArguments,
  DEINTERLACE,
  encodePicture,
  ON_TIME,
  PCM,
  SAMPLE_RATE,
  stereoAtMost,
} from '../encode/encoders.ts';
import {
  countFrames,
  type Fraction,
  formatFraction,
  samplesOf,
  type TrackFacts,
  type VideoFacts,
} from '../probe/facts.ts';
import type { Timeline } from '../probe/timeline.ts';
import {
  convertibleInput,
  ENCODER_LIMITS,
  FEW_ERRORS,
  fileAddress,
  ownInput,
  QUIET,
  trackProgress,
} from '../programs/arguments.ts';
import { explainFailures, PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { Work } from '../work.ts';
import { SAMPLES_BEFORE, SAMPLES_BEHIND, type SplitLimits } from './limits.ts';
import type { Cut } from './plan-cuts.ts';

/** The data that joining needs. Plain data, so that a record can keep it between runs. */
export interface VideoSplit {
  /** Name of the original without its extension. */
  readonly stem: string;
  readonly frameRate: Fraction;
  readonly parts: readonly VideoPart[];
  /** `copied`: the frames are bit-identical to those of the original. */
  readonly picture: 'copied' | 'encoded';
}

interface VideoPart {
  readonly path: string;
  /** Number of its first frame in the whole video, and its number of frames. */
  readonly firstFrame: number;
  readonly frames: number;
  /** The same in samples at 48 kHz, without the extra sound of its neighbours that the file also contains. */
  readonly firstSample: number;
  readonly samples: number;
}

/** Returns where each part begins in the whole video, in milliseconds, for `joinSubtitles`. */
export function partOffsetsMs(split: VideoSplit): number[] {
  return split.parts.map(({ firstSample }) => (firstSample * 1000) / SAMPLE_RATE);
}

interface SplitTask {
  readonly path: string;
  readonly facts: VideoFacts;
  readonly timeline: Timeline;
  readonly track: TrackFacts;
  readonly cuts: readonly Cut[];
  readonly limits: SplitLimits;
}

/** Shares of the time, measured on 40 minutes of 720p with an encoded picture. */
const PICTURE_SHARE = 0.8;

/**
 * Writes the parts into the work folder, as `NAME.part1of3.mp4`.
 * @throws PreparationFailure VARIABLE_FRAME_RATE if the video must be converted first, PART_TOO_LARGE if a part exceeds
 * the size limit
 */
export async function splitVideo(programs: Programs, task: SplitTask, work: Work): Promise<VideoSplit> {
  const { timeline, cuts } = task;
  if (!timeline.isConstant) {
    const message = 'the video has a variable frame rate: it cannot be cut and joined without losing frames';
    throw new PreparationFailure('VARIABLE_FRAME_RATE', message, 'convert it with --convert');
  }
  const picture = cuts.every((cut) => cut.isClean) ? 'copied' : 'encoded';
  const sound = await decodeSound(programs, task, work);
  await explainFailures('the picture cannot be cut', () => cutPicture(programs, task, picture, work));
  const source = task.facts.picture;
  const encoded = source !== null && (source.hdr !== null || source.isDeep) ? 'hevc' : 'h264';
  const codec = picture === 'copied' ? (source?.codec ?? '') : encoded;
  const { name: stem } = parse(task.path);
  const parts: VideoPart[] = [];
  for (const [index, range] of ranges(task, sound).entries()) {
    const path = join(work.folder, `${stem}.part${index + 1}of${cuts.length + 1}.mp4`);
    const cutOut = join(work.folder, pictureName(index));
    await explainFailures('a part cannot be written', () =>
      writePart(programs, { picture: cutOut, codec, sound, task, range, path }, work),
    );
    await rm(cutOut);
    const part = { path, ...range };
    await requireExact(programs, part, task.limits, work);
    parts.push(part);
    work.report(PICTURE_SHARE + ((1 - PICTURE_SHARE) * (index + 1)) / (cuts.length + 1));
  }
  await rm(sound.path);
  return { stem, frameRate: timeline.frameRate, parts, picture };
}

interface WholeSound {
  readonly path: string;
  /** Length in samples at 48 kHz. */
  readonly samples: number;
  /** The sample at which the first frame begins. */
  readonly origin: number;
}

async function decodeSound(programs: Programs, task: SplitTask, work: Work): Promise<WholeSound> {
  const path = join(work.folder, 'sound.wav');
  const { index, channels } = task.track;
  const filters = [ON_TIME, ...mixUnplaced(task.track)].join(',');
  const output = ['-map', `0:${index}`, '-af', filters, '-ac', String(stereoAtMost(channels)), ...PCM];
  const args = [...QUIET, ...FEW_ERRORS, ...convertibleInput(task.path), ...output, fileAddress(path)];
  await explainFailures('the sound cannot be decoded', () =>
    programs.run('ffmpeg', args, { ...work, limits: ENCODER_LIMITS }),
  );
  const wav = await openWav(path);
  await wav.close();
  return { path, samples: wav.frames, origin: Math.round(task.timeline.startSeconds * SAMPLE_RATE) };
}

/** Returns the frames and samples of each part. Sound after the last frame belongs to the last part. */
function ranges({ timeline, cuts }: SplitTask, sound: WholeSound): Omit<VideoPart, 'path'>[] {
  const { frameRate, frames } = timeline;
  const borders = [0, ...cuts.map((cut) => cut.frame), frames];
  const lastSample = Math.max(samplesOf(frames, frameRate, SAMPLE_RATE), sound.samples - sound.origin);
  return borders.slice(0, -1).map((firstFrame, index) => {
    const nextFrame = borders[index + 1] ?? frames;
    const firstSample = samplesOf(firstFrame, frameRate, SAMPLE_RATE);
    const nextSample = nextFrame === frames ? lastSample : samplesOf(nextFrame, frameRate, SAMPLE_RATE);
    return { firstFrame, frames: nextFrame - firstFrame, firstSample, samples: nextSample - firstSample };
  });
}

const pictureName = (index: number) => `picture-${String(index).padStart(3, '0')}.mp4`;

/**
 * Cuts in one pass over the picture. Each cut frame begins a file, and a closed group of pictures if the picture is
 * encoded.
 */
async function cutPicture(
  programs: Programs,
  { path, facts, timeline, cuts }: SplitTask,
  picture: VideoSplit['picture'],
  work: Work,
): Promise<void> {
  const frames = cuts.map((cut) => cut.frame);
  const { num, den } = timeline.frameRate;
  const keys = frames.map((frame) => `eq(n,${frame})`).join('+');
  const encode = [
    // Counts frames, so that an inexact time stamp neither doubles nor drops a frame.
    ...['-vf', `${DEINTERLACE},setpts=N*${den}/(${num}*TB),scale=trunc(iw/2)*2:trunc(ih/2)*2`],
    ...['-r', formatFraction(timeline.frameRate), ...encodePicture(facts.picture), '-forced-idr', '1'],
    ...['-force_key_frames', `expr:${keys}`],
  ];
  const args = [
    ...[...QUIET, ...FEW_ERRORS, '-progress', 'pipe:1'],
    ...[...convertibleInput(path), '-map', `0:${facts.picture?.index}`],
    ...(picture === 'copied' ? copyPicture(facts.picture?.codec ?? '') : encode),
    ...['-map_metadata', '-1', '-f', 'segment', '-segment_format', 'mp4'],
    ...['-segment_frames', frames.join(','), '-reset_timestamps', '1'],
    // A path relative to the work folder, because a percent sign in the folder's path would be read as a placeholder.
    'picture-%03d.mp4',
  ];
  const onLine = trackProgress(timeline.durationSeconds, (part) => work.report(part * PICTURE_SHARE));
  await programs.run('ffmpeg', args, { ...work, onLine, limits: ENCODER_LIMITS });
}

interface PartTask {
  readonly picture: string;
  readonly codec: string;
  readonly sound: WholeSound;
  readonly task: SplitTask;
  readonly range: Omit<VideoPart, 'path'>;
  readonly path: string;
}

async function writePart(
  programs: Programs,
  { picture, codec, sound, task, range, path }: PartTask,
  work: Work,
): Promise<void> {
  const start = sound.origin + range.firstSample;
  const before = range.firstFrame === 0 ? 0 : Math.min(SAMPLES_BEFORE, start);
  const cut = `atrim=start_sample=${start - before}:end_sample=${start + range.samples + SAMPLES_BEHIND}`;
  // Times are in samples here. Times below zero become part of the edit list.
  const placed = `asetpts=PTS-STARTPTS-${before},apad=whole_len=${before + range.samples}`;
  // The first part is enough: joining takes them from there.
  const covers = range.firstFrame === 0 ? task.facts.covers : [];
  const args = [
    ...[...QUIET, ...ownInput(picture, 'mov'), ...ownInput(sound.path, 'wav')],
    ...(covers.length > 0 ? convertibleInput(task.path) : []),
    ...['-map', '0:v:0', '-map', '1:a:0', ...copyPicture(codec)],
    ...['-af', `${cut},${placed}`, ...aacArguments(task.track.channels)],
    ...coverArguments({ covers }, 2),
    ...['-movflags', '+faststart', '-f', 'mp4', fileAddress(path)],
  ];
  await programs.run('ffmpeg', args, { ...work, limits: ENCODER_LIMITS });
}

async function requireExact(
  programs: Programs,
  part: VideoPart,
  limits: SplitLimits,
  work: Work,
): Promise<void> {
  const { frames } = await countFrames(programs, part.path, work);
  if (frames !== part.frames) {
    const message = `a part has ${frames} frames instead of ${part.frames}`;
    const advice = 'convert the video to MP4 first: --convert; it may be damaged near the cut';
    throw new PreparationFailure('JOIN_NOT_EXACT', message, advice);
  }
  const { size } = await stat(part.path);
  if (size < limits.mostBytes) return;
  const message = `a part has ${size} bytes, the limit is below ${limits.mostBytes}`;
  throw new PreparationFailure('PART_TOO_LARGE', message, 'cut it into more parts');
}
