/** The media work of a run: makes the files that are sent instead of a video, and joins the results of parts. */

import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatBytes } from '../../base/amounts.ts';
import { Failure, type FailureCategory, usageFailure } from '../../base/failure.ts';
import type { FileInput } from '../../batch/input.ts';
import type { ResultMark } from '../../batch/item.ts';
import type {
  JoinedFile,
  JoinTask,
  MadeFile,
  MadeFiles,
  Preparation,
  PreparationWork,
  TracksTask,
} from '../../batch/preparation.ts';
import { hashInput } from '../../batch/run/known-uploads.ts';
import type { ConversionOptions, ConversionPlan } from '../../media/export/convert.ts';
import type { MarkFacts } from '../../media/export/mark.ts';
import type { VideoFacts } from '../../media/probe/facts.ts';
import type { PreparationFailure } from '../../media/programs/failures.ts';
import type { Programs } from '../../media/programs/programs.ts';
import type { LongVideo } from '../../media/split/split-long-video.ts';
import type { VideoSplit } from '../../media/split/split-video.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import type { Io, LongLimits, TestSettings } from '../context/context.ts';
import { asSentence } from '../context/format.ts';
import { serviceLimits } from './examine-video.ts';
import type { MarkByProgram } from './mark-program.ts';

/** @param io PATH, and the limits of one job  @param markByProgram of a run that delivers results */
export function createPreparation(
  { env, limits }: Pick<Io & TestSettings, 'env' | 'limits'>,
  markByProgram: MarkByProgram = async (video) => video,
): Preparation {
  const load = async () => {
    const [prepare, { createPrograms }] = await Promise.all([
      import('../../media/index.ts'),
      import('../../media/programs/programs.ts'),
    ]);
    return { prepare, programs: createPrograms(env.PATH ?? '') };
  };
  return {
    async prepare(input, split, work) {
      const task = { ...(await load()), limits: limits ?? (await serviceLimits()), input, split, work };
      return asFailure('sending', () => prepareVideo(task));
    },
    async join(task, work) {
      const joining = { ...(await load()), task, work };
      return asFailure('joining', () => joinParts(joining));
    },
    async patch({ isCompared, ...patch }, work) {
      const [{ patchDub, compareVoices }, { programs }] = await Promise.all([
        import('../../media/audio/patch-dub.ts'),
        load(),
      ]);
      return asFailure('patching', async () => {
        const difference = isCompared ? await compareVoices(programs, patch, work) : null;
        return {
          path: difference === null ? await patchDub(programs, patch, work) : patch.track,
          difference,
        };
      });
    },
    async gather({ videos, isOneSound }, work) {
      const { prepare, programs } = await load();
      return asFailure('adding tracks', () => prepare.joinLanguages(programs, videos, isOneSound, work));
    },
    async addTracks(
      { video: delivered, burned, sound, source, audio, isFirst, subtitles, mark, made },
      work,
    ) {
      const { prepare, programs } = await load();
      return asFailure('adding tracks', async () => {
        const said = mark === undefined ? undefined : factsOf(mark, made);
        if (sound !== undefined)
          return prepare.writeSound(programs, { ...sound, video: delivered, source, mark: said }, work);
        const video =
          burned === undefined ? delivered : await prepare.burnTrack(programs, delivered, burned, work);
        const { path, notes } =
          source === null
            ? { path: video, notes: [] }
            : await prepare.addTracks(
                programs,
                {
                  ...{ video, source: source.path, track: audio ? source.track : null },
                  ...{ language: source.language, isFirst, subtitles, lines: null },
                },
                work,
              );
        if (said === undefined) return { path, notes };
        const marked = await prepare.markVideo(programs, path, said, work);
        return { path: said === null ? marked : await markByProgram(marked, work), notes };
      });
    },
  };
}

/** What a tag says of a result; null to leave it out. */
function factsOf({ isWanted, ...facts }: ResultMark, made: TracksTask['made']): MarkFacts | null {
  return isWanted === false ? null : { ...facts, ...made };
}

/** `sending`: nothing is paid yet. Afterwards the results are paid. */
type PreparationPurpose = 'sending' | 'joining' | 'patching' | 'adding tracks';

/** Sentence about paid results, for a message that the work failed. */
const KEPT: Readonly<Record<PreparationPurpose, string>> = {
  sending: '',
  joining: ' The results of the parts are kept: the same command joins them again and pays nothing.',
  patching: ' The new piece and the earlier track are kept: the same command tries again and pays nothing.',
  'adding tracks': ' Run the same command again to add them, which is not charged again.',
};

/** Runs work of `prepare`, and converts its failures to Failure. */
async function asFailure<T>(purpose: PreparationPurpose, work: () => Promise<T>): Promise<T> {
  const { PreparationFailure } = await import('../../media/programs/failures.ts');
  try {
    return await work();
  } catch (error) {
    throw error instanceof PreparationFailure ? preparationFailure(error, purpose) : error;
  }
}

function preparationFailure(error: PreparationFailure, purpose: PreparationPurpose): Failure {
  const isPaid = purpose !== 'sending';
  const advice = `${asSentence(error.advice)}${KEPT[purpose]}`;
  const facts = { code: error.code, message: error.message, advice };
  return new Failure({ category: categoryOf(error, isPaid), ...facts }, { cause: error });
}

function categoryOf({ code }: PreparationFailure, isPaid: boolean): FailureCategory {
  if (code === 'PROGRAM_MISSING') return 'configuration';
  return isPaid || code === 'DISK_FULL' ? 'disk' : 'usage';
}

interface VideoTask {
  readonly prepare: typeof import('../../media/index.ts');
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
async function prepareVideo(task: VideoTask): Promise<MadeFiles> {
  const { input, work } = task;
  const isCut = (input.preparation?.parts ?? 1) > 1;
  // A video that is shorter than its sample may still be too large for one job.
  if (!isCut) {
    const path = await (input.sample === undefined
      ? convertWhole(task)
      : makeSample(task, input.sample.seconds));
    return { files: [await measureWhole(task, path)], split: null };
  }
  const ready = await makeCuttable(task);
  const split = await cutVideo(task, ready);
  // The intermediate file must not stay among the parts.
  if (ready.path !== input.path) await rm(ready.path);
  const rate = split.frameRate;
  const files = await Promise.all(
    split.parts.map(({ path, frames }) => measure(path, (frames * rate.den) / rate.num, work.signal)),
  );
  return { files, split: task.prepare.packSplit(split) };
}

/** Writes the beginning of the video, or all of a shorter one. Returns its path. */
async function makeSample(task: VideoTask, seconds: number): Promise<string> {
  const { prepare, programs, input, limits, work } = task;
  const facts = await prepare.readFacts(programs, input.path, work);
  const longest = Math.min(seconds, limits.parts.mostSeconds);
  const isCut = (input.sample?.whole.seconds ?? 0) > longest;
  const plan = planOf(task, facts, isCut ? { firstSeconds: longest } : {});
  const video = { path: input.path, facts, track: plan.track };
  const end = isCut
    ? await prepare.findSampleEnd(programs, video, longest, { ...work, report: () => {} })
    : null;
  return prepare.convertVideo(programs, input.path, facts, plan, work, end);
}

/** @throws PreparationFailure if the video cannot be converted */
function planOf(
  { prepare, input }: VideoTask,
  facts: VideoFacts,
  options: Omit<ConversionOptions, 'audioTrack'>,
): Exclude<ConversionPlan, { type: 'impossible' }> {
  const plan = prepare.planConversion(facts, { ...options, audioTrack: input.preparation?.track ?? 1 });
  if (plan.type !== 'impossible') return plan;
  throw new prepare.PreparationFailure(plan.code, plan.message, plan.advice);
}

/** Converts a video that is sent in one piece. Returns the path of the result. */
async function convertWhole(task: VideoTask): Promise<string> {
  const { prepare, programs, input, work } = task;
  const facts = await prepare.readFacts(programs, input.path, work);
  const plan = planOf(task, facts, {});
  // Checked before converting: the output of a truncated file looks complete.
  const { track } = plan;
  const isCopied = plan.type === 'convert' && plan.picture === 'still' && plan.sound === 'copy';
  if (isCopied)
    await prepare.requirePlayable(programs, { path: input.path, facts, track: track.number }, work);
  else await prepare.requireComplete(programs, input.path, facts, work);
  return prepare.convertVideo(programs, input.path, facts, plan, work);
}

/** Converts a video if that is necessary to cut it. */
async function makeCuttable(task: VideoTask): Promise<LongVideo> {
  const { prepare, programs, input, work } = task;
  const read = async (path: string) => {
    const facts = await prepare.readFacts(programs, path, work);
    return { path, facts, timeline: await prepare.readTimeline(programs, path, facts, work) };
  };
  const facts = await prepare.readFacts(programs, input.path, work);
  // Sound has no frames before it is converted.
  const original = facts.picture === null ? { facts, timeline: undefined } : await read(input.path);
  const isConstant = original.timeline?.isConstant ?? true;
  const plan = planOf(task, original.facts, { willBeSplit: true, isConstant });
  if (plan.type === 'none' && original.timeline !== undefined)
    return { ...original, path: input.path, track: plan.track };
  const report = (fraction: number) => work.report(fraction * CONVERTING_SHARE);
  const path = await prepare.convertVideo(programs, input.path, original.facts, plan, { ...work, report });
  const made = await read(path);
  const [track] = made.facts.tracks;
  if (track === undefined) throw new TypeError('a converted video has no sound');
  return { ...made, track };
}

async function cutVideo(task: VideoTask, video: LongVideo): Promise<VideoSplit> {
  const { prepare, programs, limits, work } = task;
  const share = video.path === task.input.path ? 1 : 1 - CONVERTING_SHARE;
  const report = (fraction: number) => work.report(1 - share + fraction * share);
  const known = prepare.unpackSplit(task.split, work.folder);
  const own = { ...work, report };
  if (known === null) return prepare.splitLongVideo(programs, video, own, limits.parts);
  // Existing jobs use parts with these cuts.
  const cuts = prepare.cutsOf(known);
  return prepare.splitVideo(programs, { ...video, cuts, limits: limits.parts }, own);
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
  throw usageFailure(
    'CONVERTED_TOO_LARGE',
    `converted to MP4 it lasts ${seconds ?? '?'} s and has ${formatBytes(file.bytes)}, over a limit of the service`,
    'Use --split, or make it smaller first, for example with `ffmpeg -i IN -crf 28 OUT.mp4`.',
  );
}

async function measure(path: string, seconds: number | null, signal: AbortSignal): Promise<MadeFile> {
  const [{ size: bytes }, sha256] = await Promise.all([stat(path), hashInput(path, signal)]);
  return { path, bytes, sha256, seconds };
}

interface JoinWork {
  readonly prepare: typeof import('../../media/index.ts');
  readonly programs: Programs;
  readonly task: JoinTask;
  readonly work: PreparationWork;
}

/** Start of each part and end of the last one, on the time line of the whole video. */
interface TimeLine {
  readonly offsetsMs: readonly number[];
  readonly endMs: number;
  /** The split of a video, and the path of the whole; null for subtitles. */
  readonly video: { readonly split: VideoSplit; readonly source: string } | null;
}

/** One file for each asset of the kind. @throws PreparationFailure */
async function joinParts(joining: JoinWork): Promise<readonly JoinedFile[]> {
  const line = timeLineOf(joining);
  const joined: JoinedFile[] = [];
  for (const asset of assetsOf(joining.task.kind)) {
    const paths = joining.task.parts.map((files) => files[asset.label] ?? '');
    const name = `${asset.label}${asset.extension}`;
    joined.push({ label: asset.label, ...(await joinAsset(joining, line, paths, name)) });
  }
  return joined;
}

function assetsOf(kind: JobKind): (ResultPart & { type: 'asset' })[] {
  const parts: ResultPart[] = Object.values(KINDS[kind].result);
  return parts.filter((part) => part.type === 'asset');
}

/** Sample rate of the split: 48 kHz. */
const SAMPLES_PER_MS = 48;

function timeLineOf({ prepare, task, work }: JoinWork): TimeLine {
  if (task.whole.type === 'lines') return { ...task.whole, video: null };
  const split = prepare.unpackSplit(task.whole.split, work.folder);
  if (split === null) throw new TypeError('the record of the split is invalid');
  const last = split.parts.at(-1);
  const endMs = ((last?.firstSample ?? 0) + (last?.samples ?? 0)) / SAMPLES_PER_MS;
  return { offsetsMs: prepare.partOffsetsMs(split), endMs, video: { split, source: task.whole.source } };
}

type Joined = Omit<JoinedFile, 'label'>;

function joinAsset(
  joining: JoinWork,
  line: TimeLine,
  paths: readonly string[],
  name: string,
): Promise<Joined> {
  if (name.endsWith('.srt')) return joinSubtitles(joining, line, paths, name);
  if (name.endsWith('.mp4')) return joinVideo(joining, line, paths, name);
  return joinSound(joining, line, paths, name);
}

async function joinSubtitles(
  { prepare, work }: JoinWork,
  { offsetsMs }: TimeLine,
  paths: readonly string[],
  name: string,
): Promise<Joined> {
  const parts = await Promise.all(
    paths.map(async (path) => prepare.readSubtitleFile(await readFile(path), name)),
  );
  const path = join(work.folder, name);
  await writeFile(path, prepare.writeSubtitle(prepare.joinSubtitles(parts, offsetsMs), 'srt'));
  return { path, notes: [] };
}

async function joinSound(
  { prepare, programs, work }: JoinWork,
  { offsetsMs, endMs, video }: TimeLine,
  paths: readonly string[],
  name: string,
): Promise<Joined> {
  const results = paths.map((path, place) => ({ path, startSeconds: (offsetsMs[place] ?? 0) / 1000 }));
  // Stems are as long as their part; a dub may overrun with its last sentence, and speakers may speak together.
  const manner = video === null ? 'mix' : 'cut';
  const path = await prepare.joinWavs(programs, results, { endSeconds: endMs / 1000, manner, name }, work);
  return { path, notes: [] };
}

async function joinVideo(
  { prepare, programs, work }: JoinWork,
  { video }: TimeLine,
  paths: readonly string[],
  name: string,
): Promise<Joined> {
  if (video === null) throw new TypeError('a video is joined along its split');
  const { split, source } = video;
  const { path, changedParts } = await prepare.joinVideos(programs, paths, split, { name, source }, work);
  const list = changedParts.join(', ');
  const note = `part ${list} came back with a different number of frames`;
  return { path, notes: changedParts.length === 0 ? [] : [note] };
}
