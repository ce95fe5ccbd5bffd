/** A look at a video before anything is sent: whether the service takes it, and what must be done to it before. */
import { tmpdir } from 'node:os';
import type { PlanIo } from '../../batch/plan/batch-plan.ts';
import type { ExaminedVideo } from '../../batch/preparation.ts';
import type { LongLimits } from '../../context/context.ts';
import type { Programs } from '../../engines/programs.ts';
import { describeDuration, formatBytes } from '../../errors/amounts.ts';
import type { ConversionPlan } from '../../prepare/conversion/convert.ts';
import type { TrackFacts, VideoFacts } from '../../prepare/media/facts.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { AllowedPreparation } from '../jobs/job-options.ts';

interface Examiner {
  readonly kind: JobKind;
  readonly allowed: AllowedPreparation;
  /** Where programs are, as PATH says it. */
  readonly searchPath: string;
  readonly limits: LongLimits | undefined;
  readonly signal: AbortSignal;
}

type Prepare = typeof import('../../prepare/index.ts');

/** One look at one video. */
interface Look extends Examiner {
  readonly prepare: Prepare;
  readonly programs: Programs;
  readonly limits: LongLimits;
  readonly path: string;
}

export function createVideoExaminer(examiner: Examiner): PlanIo['examineVideo'] {
  return async (path, file) => {
    const [prepare, { createPrograms }, limits] = await Promise.all([
      import('../../prepare/index.ts'),
      import('../../engines/programs.ts'),
      examiner.limits ?? serviceLimits(),
    ]);
    const programs = createPrograms(examiner.searchPath);
    const look: Look = { ...examiner, prepare, programs, limits, path };
    try {
      return await examine(look, await measure(look));
    } catch (error) {
      if (!(error instanceof prepare.PreparationFailure)) throw error;
      const isSendable = file.isTaken && file.bytes < limits.bytes && examiner.allowed.audioTrack === null;
      // What nothing here can read, the service judges, unless something is to be done to it. Damage is damage there too.
      const isJudgedThere = isSendable && error.code !== 'MEDIA_CORRUPT';
      return isJudgedThere ? asItIs(null) : problem(`${error.message}; ${error.advice}`);
    }
  };
}

type Measured = VideoFacts & { readonly seconds: number | null };

/** Recordings of browsers say nothing of their length: their packets do. */
async function measure({ prepare, programs, path, signal }: Look): Promise<Measured> {
  const run = { signal, folder: tmpdir() };
  const facts = await prepare.readFacts(programs, path, run);
  if (facts.durationSeconds !== null || facts.picture === null) {
    return { ...facts, seconds: facts.durationSeconds };
  }
  const { durationSeconds } = await prepare.readTimeline(programs, path, facts, run);
  return { ...facts, seconds: durationSeconds };
}

async function examine(look: Look, declared: Measured): Promise<ExaminedVideo> {
  const { prepare, allowed, limits } = look;
  if (declared.picture === null) return { type: 'other', detail: 'it is sound alone, without a picture' };
  const { tracks } = declared;
  if (tracks.length > 1 && allowed.audioTrack === null && !allowed.convert) {
    const list = tracks.map(prepare.describeTrack).join('; ');
    return problem(
      `it has ${tracks.length} audio tracks; choose one with --audio-track N, or take the default with --convert: ${list}`,
    );
  }
  const first = planOf(look, declared, {});
  if (first.type === 'impossible') return problem(`${first.message}; ${first.advice}`);
  // Converting pads the sound a little, and what is split keeps a distance to the limit anyway.
  const whole = allowed.split && first.type === 'convert' ? limits.parts.mostSeconds : limits.seconds;
  const isLong = declared.bytes >= limits.bytes || (declared.seconds ?? 0) > whole;
  const { plan, facts } = isLong
    ? await planLong(look, declared, first.track)
    : { plan: first, facts: declared };
  if (plan.type === 'impossible') return problem(`${plan.message}; ${plan.advice}`);
  const obstacles = [
    ...(isLong && !allowed.split ? [adviseSplit(look, facts)] : []),
    ...(isAllowed(plan, facts, allowed) ? [] : [adviseConversion(plan, facts, isLong)]),
  ];
  if (obstacles.length > 0) return problem(obstacles.join('; and '));
  if (plan.type === 'none' && !isLong && plan.reasons.length === 0) return asItIs(facts.seconds);
  const cost = prepare.videoSplitCost(look.kind, sizeOf(facts), limits.parts);
  const isMeasured = facts.seconds !== null;
  return {
    type: 'usable',
    seconds: facts.seconds,
    preparation: {
      conversion: mannerOf(plan),
      reasons: plan.reasons,
      track: plan.track.number,
      parts: isLong ? cost.parts : 1,
      minutes: isMeasured && isLong ? cost.units : null,
    },
  };
}

type Usable = Exclude<ConversionPlan, { type: 'impossible' }>;

function planOf(look: Look, facts: VideoFacts, about: { willBeSplit?: boolean; isConstant?: boolean }) {
  const { audioTrack } = look.allowed;
  return look.prepare.planConversion(facts, { ...about, ...(audioTrack === null ? {} : { audioTrack }) });
}

/** Only the packets tell whether a video can be cut on the borders of frames, and whether there is what is to be cut. */
async function planLong(
  look: Look,
  facts: Measured,
  track: TrackFacts,
): Promise<{ readonly plan: ConversionPlan; readonly facts: Measured }> {
  const { prepare, programs, path, signal } = look;
  const run = { signal, folder: tmpdir() };
  await prepare.requireWhole(programs, path, { facts, track }, run);
  const { isConstant, durationSeconds } = await prepare.readTimeline(programs, path, facts, run);
  const plan = planOf(look, facts, { willBeSplit: true, isConstant });
  // All that there is will be cut and paid for, also what the header does not count.
  return { plan, facts: { ...facts, seconds: Math.max(facts.seconds ?? 0, durationSeconds) } };
}

/** --audio-track on a file that the service takes asks for a file with that track alone. */
function isAllowed(plan: Usable, facts: VideoFacts, allowed: AllowedPreparation): boolean {
  if (plan.type === 'none' || allowed.convert) return true;
  return allowed.audioTrack !== null && facts.tracks.length > 1 && plan.picture === 'copy' && plan.isTaken;
}

function mannerOf(plan: Usable): 'remuxed' | 'transcoded' | null {
  if (plan.type === 'none') return null;
  return plan.picture === 'copy' && plan.sound === 'copy' ? 'remuxed' : 'transcoded';
}

function adviseConversion(plan: Usable, facts: VideoFacts, isLong: boolean): string {
  const copying = `without re-encoding${isLong ? ', unless a cut needs it' : ''}`;
  const how = mannerOf(plan) === 'remuxed' ? copying : 'encoding what it must';
  const codecs = [facts.picture?.codec, plan.track.codec].join(' and ');
  return `${plan.reasons.join(', ')} (it holds ${codecs}); --convert makes an MP4 of it, ${how}`;
}

function adviseSplit({ prepare, kind, limits }: Look, facts: Measured): string {
  const long =
    facts.bytes >= limits.bytes
      ? `it has ${formatBytes(facts.bytes)}, and the service takes less than ${formatBytes(limits.bytes)}`
      : `it lasts ${describeDuration((facts.seconds ?? 0) * 1000)}, over the limit of ${describeDuration(limits.seconds * 1000)}`;
  const cost = prepare.videoSplitCost(kind, sizeOf(facts), limits.parts);
  return `${long}; ${prepare.describeSplitCost(cost)}, for each language`;
}

function sizeOf({ seconds, bytes }: Measured) {
  return { durationSeconds: seconds ?? 0, bytes };
}

function asItIs(seconds: number | null): ExaminedVideo {
  return { type: 'usable', seconds, preparation: null };
}

function problem(detail: string): ExaminedVideo {
  return { type: 'problem', detail };
}

/** Those of the service. Source: specification, "Limits". */
export async function serviceLimits(): Promise<LongLimits> {
  const [{ SERVICE_SPLIT }, { LIMITS }] = await Promise.all([
    import('../../prepare/split/limits.ts'),
    import('../../protocol/limits.ts'),
  ]);
  const { videoSeconds: seconds, videoBytes: bytes, subtitleLines: lines } = LIMITS;
  return { seconds, bytes, lines, parts: SERVICE_SPLIT };
}
