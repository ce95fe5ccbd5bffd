/** Plans to dub only the changed cues of edited subtitles, and to put them into the track that there is. */
import { hash } from 'node:crypto';
import { usageFailure } from '../../base/failure.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { Units } from '../bill.ts';
import { isSameFile } from '../deliver/result-file.ts';
import { isSplit, type JobInput } from '../input.ts';
import { unitsOfLines } from '../inputs/items.ts';
import { describeChange } from '../inputs/requests.ts';
import type { BatchItem } from '../item.ts';
import type { Attempt, StoredFile } from '../records/attempts.ts';
import { digestLinesMaking, ownFiles, partKey } from '../records/item-key.ts';
import { keptTrack, readLines } from '../records/kept-dubs.ts';
import { nextStepForItem } from '../records/next-step.ts';
import type { CueChanges } from './changed-cues.ts';
import type { Choices, Decision, Recorded } from './decision.ts';

/** How dubs of edited subtitles are made. */
export interface RedubChoices {
  /** All cues are dubbed again, not only the changed ones. */
  readonly whole: boolean;
  /** Numbers of cues that are dubbed again although they have not changed; null for none. */
  readonly only: ReadonlySet<number> | null;
  /** Names the service of the run. */
  service(): Promise<string>;
}

/** The part of an item that is dubbed again. */
export interface Redub extends CueChanges {
  /** Digest of what it is made of. */
  readonly source: string;
  /** Whether an earlier run has sent it, so that it costs nothing more. */
  readonly isBegun: boolean;
  /** Number of cues in the subtitles. */
  readonly total: number;
  readonly units: Units;
  /** The track into which they are put, as it was delivered, and a file that has its bytes now. */
  readonly track: StoredFile;
  readonly from: string;
  /** Key of the attempt that it was made for, its job, and the digest of its subtitles. */
  readonly base: { readonly key: string; readonly jobId: string; readonly sha256: string };
}

/** Number of cues that are dubbed again. */
export function countAgain({ numbers }: Pick<Redub, 'numbers'>): number {
  return numbers.filter((number) => number !== null).length;
}

/**
 * The decision about an item, with what is dubbed again if that costs less than a new dub.
 * @throws Failure (`usage`) if cues are wanted again and cannot be
 */
export async function decideRedub(
  item: BatchItem,
  decision: Decision,
  recorded: Recorded,
  choices: Choices,
): Promise<Decision> {
  const { input, kind } = item;
  const { redub, fresh } = choices;
  if (redub === undefined || kind !== 'dubbing' || input.type !== 'lines') return decision;
  const { only } = redub;
  const isDue = decision.step === 'new' || (only !== null && decision.step === 'done');
  if (fresh || redub.whole || !isDue) return decision;
  const found = await planRedub({ ...item, input }, recorded, { ...choices, redub });
  if (typeof found !== 'string') {
    const replaces = ownFiles(item.key, recorded);
    return { step: 'new', after: null, replaces, redub: found };
  }
  if (only === null) return decision;
  throw usageFailure(
    'NOT_USABLE',
    `${item.label}: lines cannot be dubbed again, because ${found}; nothing was sent`,
    'Name other lines, or leave out --only.',
  );
}

type LinesItem = BatchItem & { readonly input: JobInput & { readonly type: 'lines' } };

/** The part of an item that is dubbed again; otherwise why all of it must be, or had better be. */
async function planRedub(
  item: LinesItem,
  { attempts }: Recorded,
  { redub: { only, folder, service }, now }: Choices & { readonly redub: NonNullable<Choices['redub']> },
): Promise<Redub | string> {
  const { key, kind, input, fields } = item;
  if (isSplit(input)) return 'it has more lines than one job takes';
  const unknown = [...(only ?? [])].find((number) => !input.lines.some(({ index }) => index === number));
  if (unknown !== undefined) return `there is no line ${unknown} among ${input.lines.length}`;
  const base = findBase(key, attempts);
  if (base === null) return 'there is no earlier dub of it in this folder';
  if (describeChange(kind, base.request, fields).length > 0) return 'its dub was made with other options';
  const sha256 = base.input_sha256 ?? '';
  const before = await readLines(folder, key, sha256);
  if (before === null) return 'it is not known of which subtitles its dub was made';
  if (before.service !== (await service())) return 'its dub was made by another service';
  const [track] = base.files;
  const from = track === undefined ? null : await findTrack(folder, key, track);
  if (track === undefined || from === null) return 'its track is gone, was edited, or is not a 16-bit WAV';
  const { findChanges } = await import('./changed-cues.ts');
  const heard = await findHeard(from, before.lines, input.lines);
  const changes = findChanges(before.lines, input.lines, only ?? new Set(), heard);
  const units = unitsOf(changes.lines);
  if (only === null && units.quantity >= unitsOf(input.lines).quantity)
    return 'that would not cost less than all of it';
  // Whatever was delivered has one.
  const jobId = base.job_id ?? '';
  const made = [sha256, input.sha256, track.sha256, changes.lines, changes.places];
  const source = hash('sha256', JSON.stringify(made));
  return {
    ...{ ...changes, total: input.lines.length, units, track, from, source },
    isBegun: isBegun(item, source, attempts, now),
    base: { key: base.key, jobId, sha256 },
  };
}

/** The starts of cues right before which a track speaks. */
async function findHeard(track: string, before: Lines, now: Lines): Promise<ReadonlySet<number>> {
  const [{ earlyTimes }, { audibleSeconds }] = await Promise.all([
    import('./changed-cues.ts'),
    import('../../media/audio/audible.ts'),
  ]);
  const heard = new Set<number>();
  for (const { fromMs, startMs } of earlyTimes(before, now)) {
    const until = startMs / 1000 - ONSET_SECONDS;
    if ((await audibleSeconds(track, fromMs / 1000, until, SPEECH_LEVEL)) > 0) heard.add(startMs);
  }
  return heard;
}

type Lines = readonly SubtitleLine[];

/** The first sound of a cue may be smeared by this much when its track is converted. */
const ONSET_SECONDS = 0.01;
/** Samples that are louder are not the noise of a room (-44 dB). */
const SPEECH_LEVEL = 200;

/** Whether the job of the only part has been sent, and has not failed. */
function isBegun(item: BatchItem, source: string, attempts: Recorded['attempts'], now: number): boolean {
  const part = { part: 1, of: 1, made: digestLinesMaking(source, item, [0]) };
  const next = nextStepForItem(attempts, partKey(item.key, part), now);
  return next.step === 'nothing' ? next.because.reason === 'downloaded' : next.step !== 'intend';
}

function unitsOf(lines: readonly SubtitleLine[]): Units {
  return unitsOfLines('dubbing', [{ lines }]);
}

/** The last dub that was delivered; null if there is none. */
export function findBase(item: string, { byItem, byKey }: Recorded['attempts']): Attempt | null {
  const isDelivered = (key: string) => byKey.get(key)?.state === 'downloaded';
  return byKey.get((byItem.get(item) ?? []).findLast(isDelivered) ?? '') ?? null;
}

/** A file with the bytes of the track, as it is or as it was kept while it is replaced; null without one that can be patched. */
async function findTrack(records: string, item: string, track: StoredFile): Promise<string | null> {
  const { size: bytes, sha256 } = track;
  for (const path of [track.path, keptTrack(records, item)]) {
    if (!(await isSameFile(path, { bytes, sha256 }))) continue;
    const { openWav } = await import('../../media/audio/wav.ts');
    const wav = await openWav(path).catch(() => null);
    await wav?.close();
    return wav === null ? null : path;
  }
  return null;
}
