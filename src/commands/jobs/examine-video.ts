/** Examines a video before anything is sent: whether the service accepts it, and which preparation it needs. */

import { tmpdir } from 'node:os';
import { describeDuration, formatBytes } from '../../base/amounts.ts';
import type { FilePreparation } from '../../batch/input.ts';
import { givesVideo } from '../../batch/inputs/delivery.ts';
import type { PlanIo } from '../../batch/inputs/plan-request.ts';
import type { ExaminedVideo } from '../../batch/preparation.ts';
import type { ConversionPlan } from '../../media/export/convert.ts';
import type { VideoFacts } from '../../media/probe/facts.ts';
import type { Programs } from '../../media/programs/programs.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { LongLimits } from '../context/context.ts';
import type { AllowedPreparation } from './job-options.ts';

interface ExaminerOptions {
  readonly kind: JobKind;
  readonly allowed: AllowedPreparation;
  /** The value of PATH. */
  readonly searchPath: string;
  readonly limits: LongLimits | undefined;
  readonly signal: AbortSignal;
  /** Whether this machine works with the video, too: then it must be readable here. */
  readonly isUsedHere: boolean;
}

type Prepare = typeof import('../../media/index.ts');

/** The examination of one video. */
interface Examination extends ExaminerOptions {
  readonly prepare: Prepare;
  readonly programs: Programs;
  readonly limits: LongLimits;
  readonly path: string;
}

export function createVideoExaminer(examiner: ExaminerOptions): PlanIo['examineVideo'] {
  return async (path, file) => {
    const [prepare, { createPrograms }, limits] = await Promise.all([
      import('../../media/index.ts'),
      import('../../media/programs/programs.ts'),
      examiner.limits ?? serviceLimits(),
    ]);
    const programs = createPrograms(examiner.searchPath);
    const examination: Examination = { ...examiner, prepare, programs, limits, path };
    try {
      return await examine(examination, await measure(examination));
    } catch (error) {
      if (!(error instanceof prepare.PreparationFailure)) throw error;
      const { audioTrack, sampleSeconds } = examiner.allowed;
      const isChosen = audioTrack !== null || sampleSeconds !== null;
      const isSendable = file.isTaken && file.bytes < limits.bytes && !isChosen;
      // The service decides about files that cannot be read here, unless they are damaged or are needed here.
      const isNeeded =
        error.code === 'MEDIA_CORRUPT' || (examiner.isUsedHere && error.code !== 'PROGRAM_MISSING');
      const isJudgedThere = isSendable && !isNeeded;
      if (isJudgedThere) return asItIs(null);
      const { describeOldFfmpeg, NEWER_FFMPEG } = await import('../../media/programs/ffmpeg-version.ts');
      const old = await describeOldFfmpeg(programs, { signal: examiner.signal, folder: tmpdir() });
      return problem(old === null ? `${error.message}; ${error.advice}` : `${old}. ${NEWER_FFMPEG}`);
    }
  };
}

type Measured = VideoFacts & { readonly seconds: number | null };

/** Streams of MPEG may have been joined, so that their header declares too little; all packets are read. */
const JOINABLE = 'mpeg';

/** Recordings of browsers have no duration in their header; it is computed from their packets. */
async function measure({ prepare, programs, path, signal }: Examination): Promise<Measured> {
  const run = { signal, folder: tmpdir() };
  const facts = await prepare.readFacts(programs, path, run);
  await prepare.requireAllOf(programs, path, facts, run);
  const sound = prepare.soundFormatOf(facts);
  if (sound !== null) {
    const seconds = await prepare.soundSeconds(programs, path, facts, run);
    await prepare.requireSoundEncoder(programs, sound, run);
    return { ...facts, seconds };
  }
  const isDeclared = facts.durationSeconds !== null && facts.demuxer !== JOINABLE;
  if (isDeclared || facts.picture === null) {
    return { ...facts, seconds: facts.durationSeconds };
  }
  const { durationSeconds } = await prepare.readTimeline(programs, path, facts, run);
  return { ...facts, seconds: Math.max(facts.durationSeconds ?? 0, durationSeconds) };
}

async function examine(examination: Examination, declared: Measured): Promise<ExaminedVideo> {
  const { prepare, limits } = examination;
  // A sample shows what the whole would cost in parts; the command that continues has --split.
  const isSample = examination.allowed.sampleSeconds !== null;
  const allowed = isSample ? { ...examination.allowed, split: true } : examination.allowed;
  const sound = prepare.soundFormatOf(declared);
  if (declared.picture === null && sound === null)
    return {
      type: 'other',
      detail: 'it has sound but no picture; give the sound as MP3, M4A, WAV, FLAC, Ogg or Opus',
    };
  const { tracks } = declared;
  if (tracks.length > 1 && allowed.audioTrack === null && !allowed.convert) {
    const list = tracks.map(prepare.describeTrack).join('; ');
    const detail = `it has ${tracks.length} audio tracks; choose one with --audio-track N, or take the default with --convert: ${list}`;
    return { ...problem(detail), isOwn: true };
  }
  const first = planOf(examination, declared, {});
  if (first.type === 'impossible')
    return first.code === 'NO_AUDIO_STREAM'
      ? asSilent(examination, declared)
      : problem(`${first.message}; ${first.advice}`);
  // Converting lengthens the sound a little; a split keeps a margin to the limit.
  const whole = allowed.split && first.type === 'convert' ? limits.parts.mostSeconds : limits.seconds;
  const isLong = madeBytes(examination, first, declared) >= limits.bytes || (declared.seconds ?? 0) > whole;
  const { plan, facts } = isLong ? await planLong(examination, declared) : { plan: first, facts: declared };
  if (plan.type === 'impossible') return problem(`${plan.message}; ${plan.advice}`);
  const obstacles = [
    ...(isLong && !allowed.split ? [adviseSplit(examination, facts)] : []),
    ...(isAllowed(plan, facts, allowed) ? [] : [adviseConversion(plan, facts, isLong)]),
  ];
  if (obstacles.length > 0) return problem(obstacles.join('; and '));
  const codec = plan.type === 'none' ? prepare.uncopiedCodec(facts) : null;
  const { channels } = plan.track;
  const changed = {
    ...(codec === null ? {} : { uncopiedCodec: codec }),
    ...(channels > 2 && sound === null ? { channels } : {}),
    ...(sound === null ? {} : { sound }),
  };
  if (plan.type === 'none' && !isLong && plan.reasons.length === 0) {
    return asSample(examination, declared, { ...asItIs(facts.seconds), ...changed });
  }
  const bytes = madeBytes(examination, plan, facts);
  const cost = prepare.videoSplitCost(examination.kind, sizeOf({ ...facts, bytes }), limits.parts);
  const isMeasured = facts.seconds !== null;
  return asSample(examination, declared, {
    type: 'usable',
    seconds: facts.seconds,
    ...changed,
    preparation: {
      conversion: mannerOf(plan),
      reasons: plan.reasons,
      track: plan.track.number,
      parts: isLong ? cost.parts : 1,
      minutes: isMeasured && isLong ? cost.units : null,
      ...(sound === null ? {} : { bytes: madeBytes(examination, plan, facts) }),
    },
  });
}

/** A video without sound. A sample shows nothing of it. */
function asSilent({ kind, allowed }: Examination, { seconds }: Measured): ExaminedVideo {
  if (allowed.passThrough && allowed.sampleSeconds === null) return { ...asItIs(seconds), isSilent: true };
  const copy = givesVideo(kind) ? 'copy it into the results with --pass-through, ' : '';
  return problem(
    `the video has no audio track; export it with its sound, ${copy}or leave it out with --exclude PATTERN, ` +
      'and let `vloc batch forget` drop what earlier runs have recorded of it',
  );
}

type UsableVideo = ExaminedVideo & { readonly type: 'usable' };

/** The sample of a video that can be sent, or the video itself if no sample is wanted. */
function asSample(examination: Examination, facts: Measured, whole: UsableVideo): ExaminedVideo {
  const { allowed, limits } = examination;
  const { sampleSeconds } = allowed;
  if (sampleSeconds === null) return whole;
  const { seconds, preparation } = whole;
  const sample = { seconds: sampleSeconds, whole: { seconds, preparation } };
  const longest = Math.min(sampleSeconds, limits.parts.mostSeconds);
  if ((seconds ?? 0) <= longest) return { ...whole, sample };
  const plan = planOf(examination, facts, { firstSeconds: longest });
  if (plan.type === 'impossible') return problem(`${plan.message}; ${plan.advice}`);
  const { reasons, track } = plan;
  const conversion = mannerOf(plan);
  const made = preparation?.bytes;
  const share = made === undefined ? {} : { bytes: Math.round((made * longest) / (seconds ?? longest)) };
  const cut = { conversion, reasons, track: track.number, parts: 1, minutes: null, ...share };
  return { ...whole, seconds: longest, preparation: cut, sample };
}

/** Bytes of what is sent, about: of sound with its picture, else of the file. */
function madeBytes({ prepare }: Examination, plan: UsablePlan, facts: Measured): number {
  if (plan.type === 'none' || plan.picture !== 'still') return facts.bytes;
  return prepare.stillBytes(facts, plan, facts.seconds ?? 0);
}

type UsablePlan = Exclude<ConversionPlan, { type: 'impossible' }>;

function planOf(
  examination: Examination,
  facts: VideoFacts,
  about: { willBeSplit?: boolean; isConstant?: boolean; firstSeconds?: number },
) {
  const { audioTrack } = examination.allowed;
  return examination.prepare.planConversion(facts, {
    ...about,
    ...(audioTrack === null ? {} : { audioTrack }),
  });
}

/** Reads the packets: they show whether the video can be cut between frames, and whether it is complete. */
async function planLong(
  examination: Examination,
  facts: Measured,
): Promise<{ readonly plan: ConversionPlan; readonly facts: Measured }> {
  const { prepare, programs, path, signal } = examination;
  if (facts.picture === null) return { plan: planOf(examination, facts, { willBeSplit: true }), facts };
  const run = { signal, folder: tmpdir() };
  const { isConstant, durationSeconds } = await prepare.readTimeline(programs, path, facts, run);
  const plan = planOf(examination, facts, { willBeSplit: true, isConstant });
  // The whole file is cut and paid for, even beyond the duration in the header.
  return { plan, facts: { ...facts, seconds: Math.max(facts.seconds ?? 0, durationSeconds) } };
}

/** --audio-track on an accepted file extracts that track without re-encoding. */
function isAllowed(plan: UsablePlan, facts: VideoFacts, allowed: AllowedPreparation): boolean {
  if (plan.type === 'none' || plan.picture === 'still' || allowed.convert) return true;
  return allowed.audioTrack !== null && facts.tracks.length > 1 && plan.picture === 'copy' && plan.isTaken;
}

function mannerOf(plan: UsablePlan): FilePreparation['conversion'] {
  if (plan.type === 'none') return null;
  if (plan.picture === 'still') return 'still';
  return plan.picture === 'copy' && plan.sound === 'copy' ? 'remuxed' : 'transcoded';
}

function adviseConversion(plan: UsablePlan, facts: VideoFacts, isLong: boolean): string {
  const copying = `without re-encoding${isLong ? ', unless a cut needs it' : ''}`;
  const how = mannerOf(plan) === 'remuxed' ? copying : 'encoding what it must';
  const codecs = [facts.picture?.codec, plan.track.codec].join(' and ');
  return `${plan.reasons.join(', ')} (it contains ${codecs}); --convert makes an MP4 of it, ${how}`;
}

function adviseSplit({ prepare, kind, limits }: Examination, facts: Measured): string {
  const long =
    facts.bytes >= limits.bytes
      ? `it has ${formatBytes(facts.bytes)}, and the service accepts less than ${formatBytes(limits.bytes)}`
      : `it lasts ${describeDuration((facts.seconds ?? 0) * 1000)}, over the limit of ${describeDuration(limits.seconds * 1000)}`;
  const cost = prepare.videoSplitCost(kind, sizeOf(facts), limits.parts);
  return `${long}; ${prepare.describeSplitCost(cost)}, for each language`;
}

function sizeOf({ seconds, bytes }: Measured) {
  return { durationSeconds: seconds ?? 0, bytes };
}

function asItIs(seconds: number | null): ExaminedVideo & { readonly type: 'usable' } {
  return { type: 'usable', seconds, preparation: null };
}

function problem(detail: string): ExaminedVideo & { readonly type: 'problem' } {
  return { type: 'problem', detail };
}

/** The limits of the service. Source: specification, "Limits". */
export async function serviceLimits(): Promise<LongLimits> {
  const { SERVICE_SPLIT } = await import('../../media/split/limits.ts');
  const { videoSeconds: seconds, videoBytes: bytes, subtitleLines: lines } = LIMITS;
  return { seconds, bytes, lines, parts: SERVICE_SPLIT };
}
