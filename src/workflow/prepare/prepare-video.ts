/** The files that are sent instead of a video: a converted file, parts, or parts of a converted file. */
import { rm, stat } from 'node:fs/promises';
import type { FileInput } from '../../batch/plan/input.ts';
import type { MadeFile, MadeFiles, PreparationWork } from '../../batch/preparation.ts';
import { hashInput } from '../../batch/run/known-uploads.ts';
import type { LongLimits } from '../../context/context.ts';
import type { Programs } from '../../engines/programs.ts';
import { formatBytes } from '../../errors/amounts.ts';
import { Failure } from '../../errors/failure.ts';
import type { TrackFacts, VideoFacts } from '../../prepare/media/facts.ts';
import type { VideoSplit } from '../../prepare/split/split-video.ts';

interface VideoTask {
  readonly prepare: typeof import('../../prepare/index.ts');
  readonly programs: Programs;
  readonly limits: LongLimits;
  readonly input: FileInput;
  /** See `Preparation.prepare`. */
  readonly split: unknown;
  readonly work: PreparationWork;
}

/** Share of the time for converting, if cutting follows. */
const CONVERTING_SHARE = 0.5;

/** @throws PreparationFailure; Failure when the converted file exceeds a limit */
export async function prepareVideo(task: VideoTask): Promise<MadeFiles> {
  const { input, work } = task;
  const isCut = (input.preparation?.parts ?? 1) > 1;
  const ready = await convertVideo(task, isCut);
  if (!isCut) return { files: [await measureWhole(task, ready.path)], split: null };
  const split = await cutVideo(task, ready);
  // The intermediate file must not stay among the parts.
  if (ready.path !== input.path) await rm(ready.path);
  const rate = split.frameRate;
  const files = await Promise.all(
    split.parts.map(({ path, frames }) => measure(path, (frames * rate.den) / rate.num, work.signal)),
  );
  return { files, split: task.prepare.packSplit(split) };
}

interface ReadyVideo {
  readonly path: string;
  readonly facts: VideoFacts;
  readonly track: TrackFacts;
}

/** Converts the video if necessary. */
async function convertVideo(task: VideoTask, isCut: boolean): Promise<ReadyVideo> {
  const { prepare, programs, input, work } = task;
  const facts = await prepare.readFacts(programs, input.path, work);
  const isConstant = isCut
    ? (await prepare.readTimeline(programs, input.path, facts, work)).isConstant
    : undefined;
  const plan = prepare.planConversion(facts, {
    audioTrack: input.preparation?.track ?? 1,
    willBeSplit: isCut,
    ...(isConstant === undefined ? {} : { isConstant }),
  });
  if (plan.type === 'impossible') {
    throw new prepare.PreparationFailure(plan.code, plan.message, plan.advice);
  }
  // Checked before converting: the output of a truncated file looks complete.
  await prepare.requireWhole(programs, input.path, { facts, track: plan.track }, work);
  if (plan.type === 'none') return { path: input.path, facts, track: plan.track };
  const share = isCut ? CONVERTING_SHARE : 1;
  const report = (fraction: number) => work.report(fraction * share);
  const path = await prepare.convert(programs, input.path, facts, plan, { ...work, report });
  const made = await prepare.readFacts(programs, path, work);
  const [track] = made.tracks;
  if (track === undefined) throw new TypeError('a converted video has no sound');
  return { path, facts: made, track };
}

async function cutVideo(task: VideoTask, { path, facts, track }: ReadyVideo): Promise<VideoSplit> {
  const { prepare, programs, limits, work } = task;
  const timeline = await prepare.readTimeline(programs, path, facts, work);
  const share = path === task.input.path ? 1 : 1 - CONVERTING_SHARE;
  const report = (fraction: number) => work.report(1 - share + fraction * share);
  const known = prepare.unpackSplit(task.split, work.folder);
  const own = { ...work, report };
  if (known === null) {
    return prepare.splitLongVideo(programs, { path, facts, timeline, track }, own, limits.parts);
  }
  // Existing jobs use parts with these cuts.
  const cuts = prepare.cutsOf(known);
  return prepare.splitVideo(programs, { path, facts, timeline, track, cuts, limits: limits.parts }, own);
}

/** @throws Failure (`usage`) for a file that the service would refuse after the upload */
async function measureWhole(task: VideoTask, path: string): Promise<MadeFile> {
  const { prepare, programs, limits, work, input } = task;
  // The original is never sent: sent files are in the work folder.
  if (path === input.path) throw new TypeError('nothing was to be done to the file');
  const { durationSeconds: seconds } = await prepare.readFacts(programs, path, work);
  const file = await measure(path, seconds, work.signal);
  const isFit = file.bytes < limits.bytes && (seconds ?? 0) <= limits.seconds;
  if (isFit) return file;
  throw new Failure({
    category: 'usage',
    code: 'CONVERTED_TOO_LARGE',
    message: `converted to MP4 it lasts ${seconds ?? '?'} s and has ${formatBytes(file.bytes)}, over a limit of the service`,
    advice: 'Give --split, or make it smaller first, for example with `ffmpeg -i IN -crf 28 OUT.mp4`.',
  });
}

async function measure(path: string, seconds: number | null, signal: AbortSignal): Promise<MadeFile> {
  const [{ size: bytes }, sha256] = await Promise.all([stat(path), hashInput(path, signal)]);
  return { path, bytes, sha256, seconds };
}
