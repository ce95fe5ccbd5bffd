/** The files that are sent in the place of a video: a converted one, parts, or parts of a converted one. */
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

/** Converting takes this share of the time where cutting follows. */
const CONVERTING_SHARE = 0.5;

/** @throws PreparationFailure; Failure when what comes out is nothing for the service either */
export async function prepareVideo(task: VideoTask): Promise<MadeFiles> {
  const { input, work } = task;
  const isCut = (input.preparation?.parts ?? 1) > 1;
  const ready = await convertVideo(task, isCut);
  if (!isCut) return { files: [await measureWhole(task, ready.path)], split: null };
  const split = await cutVideo(task, ready);
  // What was made in between must not lie among the parts.
  if (ready.path !== input.path) await rm(ready.path);
  const rate = split.frameRate;
  const files = await Promise.all(
    split.parts.map(({ path, frames }) => measure(path, (frames * rate.den) / rate.num, work.signal)),
  );
  return { files, split: task.prepare.packSplit(split) };
}

interface Ready {
  readonly path: string;
  readonly facts: VideoFacts;
  readonly track: TrackFacts;
}

/** The video itself when nothing is to be done to it. */
async function convertVideo(task: VideoTask, isCut: boolean): Promise<Ready> {
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
  // Behind this point nobody can tell any more: what is made of a file that breaks off looks whole.
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

async function cutVideo(task: VideoTask, { path, facts, track }: Ready): Promise<VideoSplit> {
  const { prepare, programs, limits, work } = task;
  const timeline = await prepare.readTimeline(programs, path, facts, work);
  const share = path === task.input.path ? 1 : 1 - CONVERTING_SHARE;
  const report = (fraction: number) => work.report(1 - share + fraction * share);
  const known = prepare.unpackSplit(task.split, work.folder);
  const own = { ...work, report };
  if (known === null) {
    return prepare.splitLongVideo(programs, { path, facts, timeline, track }, own, limits.parts);
  }
  // Jobs were made of parts that were cut at these places.
  const cuts = prepare.cutsOf(known);
  return prepare.splitVideo(programs, { path, facts, timeline, track, cuts, limits: limits.parts }, own);
}

/** @throws Failure (`usage`) for a file that the service would refuse after the upload */
async function measureWhole(task: VideoTask, path: string): Promise<MadeFile> {
  const { prepare, programs, limits, work, input } = task;
  // The original stays where it is: what is sent lies in the work folder.
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
