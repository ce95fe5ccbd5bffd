/** Finds which cues of a dub must be spoken again after an edit, and where its track is replaced. Pure. */
import { groupUtterances, mostEarlyMs } from '../../media/subtitles/utterances.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { Place } from '../preparation.ts';

type Lines = readonly SubtitleLine[];

export interface CueChanges {
  /** In order of time, without overlap. */
  readonly places: readonly Place[];
  /** The cues to send, numbered from 1, at their times. */
  readonly lines: Lines;
  /** The number of each of them in the subtitles; null for one whose sound is not used. */
  readonly numbers: readonly (number | null)[];
  /** The old and the new number of each cue that stays. */
  readonly kept: readonly (readonly [before: number, now: number])[];
}

/**
 * Without a cue after it, speech may run on past the end of its own, in milliseconds: the built-in voices allow 1,500. A
 * cue that follows within this time is sent too, so that the speech before it ends in time.
 */
const FOLLOWING_MS = 2_000;

interface Cue {
  readonly line: SubtitleLine;
  readonly isNew: boolean;
  readonly isChanged: boolean;
  /** How much earlier its speech may begin, in milliseconds. */
  readonly earlyMs: number;
}

/** Cues that share their time, or are spoken as one text. */
interface Group {
  readonly cues: Cue[];
  readonly startMs: number;
  /** The end of its cues, and the last start of one that is spoken with them. */
  endMs: number;
  lastStartMs: number;
}

/**
 * Compares subtitles with those of which a dub was made. Cues whose time or text differs are changed, and so are those that
 * share their time or their sentence: their speech cannot be told apart.
 * @param again numbers of cues that count as changed
 * @param heard starts of cues before which the track speaks, see `earlyTimes`: whether it is the text before or the cue, is not known
 */
export function findChanges(
  before: Lines,
  now: Lines,
  again: ReadonlySet<number> = new Set<number>(),
  heard: ReadonlySet<number> = new Set<number>(),
): CueChanges {
  const places: Place[] = [];
  const sent: { readonly line: SubtitleLine; readonly number: number | null }[] = [];
  const { cues, kept } = compareCues(before, now, again);
  const groups = groupCues(cues, lastStarts(before, now), heard);
  const isChanged = (group: Group | undefined) => group?.cues.some((cue) => cue.isChanged) === true;
  for (let at = 0; at < groups.length; at += 1) {
    if (!isChanged(groups[at])) continue;
    const startMs = (groups[at]?.startMs ?? 0) - (groups[at]?.cues[0]?.earlyMs ?? 0);
    const own: SubtitleLine[] = [];
    for (; isChanged(groups[at]); at += 1)
      own.push(...(groups[at]?.cues ?? []).flatMap(({ line, isNew }) => (isNew ? [line] : [])));
    const next = groups[at]?.cues[0]?.line;
    const endMs = next?.start_ms ?? null;
    sent.push(...own.map((line) => ({ line, number: line.index })));
    const lastMs = Math.max(...own.map(({ end_ms }) => end_ms));
    const isNear = own.length > 0 && next !== undefined && next.start_ms - lastMs <= FOLLOWING_MS;
    if (isNear) sent.push({ line: next, number: null });
    const spoken = [...own, ...(isNear ? [next] : [])].map((cue) => [cue.start_ms, cue.end_ms] as const);
    places.push({ startMs, endMs, spoken });
  }
  const stays = new Set(
    groups.filter((group) => !isChanged(group)).flatMap((group) => group.cues.map(({ line }) => line.index)),
  );
  return {
    places,
    lines: sent.map(({ line }, at) => ({ ...line, index: at + 1 })),
    numbers: sent.map(({ number }) => number),
    kept: kept.filter(([, number]) => stays.has(number)),
  };
}

/** The times before cues in which their own speech may begin, in milliseconds. */
export function earlyTimes(
  before: Lines,
  now: Lines,
): { readonly fromMs: number; readonly startMs: number }[] {
  return compareCues(before, now, new Set()).cues.flatMap(({ line: { start_ms: startMs }, earlyMs }) =>
    earlyMs === 0 ? [] : [{ fromMs: startMs - earlyMs, startMs }],
  );
}

/** The last start of the cues that are spoken with one, by its identity. */
function lastStarts(...all: readonly Lines[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const lines of all) {
    const starts = groupUtterances(lines).flatMap((parts) => {
      const last = Math.max(...parts.map(({ startMs }) => startMs));
      return parts.flatMap(({ indexes }) => indexes.map((index) => [index, last] as const));
    });
    const lastOf = new Map(starts);
    for (const line of lines) {
      const identity = identityOf(line);
      found.set(identity, Math.max(found.get(identity) ?? 0, lastOf.get(line.index) ?? 0));
    }
  }
  return found;
}

/** All new cues and the removed ones, in order of time. */
function compareCues(before: Lines, now: Lines, again: ReadonlySet<number>) {
  const left = Map.groupBy(before, identityOf);
  const kept: [number, number][] = [];
  const cues = now.map((line) => {
    const same = left.get(identityOf(line))?.shift();
    if (same !== undefined) kept.push([same.index, line.index]);
    return { line, isNew: true, isChanged: same === undefined || again.has(line.index) };
  });
  const removed = [...left.values()].flat().map((line) => ({ line, isNew: false, isChanged: true }));
  let endMs = 0;
  const all = [...cues, ...removed]
    .sort((one, other) => one.line.start_ms - other.line.start_ms)
    .map((cue): Cue => {
      const earlyMs = mostEarlyMs(cue.line.start_ms, endMs);
      endMs = Math.max(endMs, cue.line.end_ms);
      return { ...cue, earlyMs };
    });
  return { cues: all, kept };
}

function identityOf({ start_ms, end_ms, text }: SubtitleLine): string {
  return `${start_ms} ${end_ms} ${text}`;
}

function groupCues(
  cues: readonly Cue[],
  lasts: ReadonlyMap<string, number>,
  heard: ReadonlySet<number>,
): readonly Group[] {
  const groups: Group[] = [];
  for (const cue of cues) {
    const { start_ms, end_ms } = cue.line;
    const open = groups.at(-1);
    const lastStartMs = Math.max(start_ms, lasts.get(identityOf(cue.line)) ?? 0);
    const isShared = (group: Group) => start_ms < group.endMs || start_ms <= group.lastStartMs;
    if (open !== undefined && (isShared(open) || heard.has(start_ms))) {
      open.cues.push(cue);
      open.endMs = Math.max(open.endMs, end_ms);
      open.lastStartMs = Math.max(open.lastStartMs, lastStartMs);
    } else groups.push({ cues: [cue], startMs: start_ms, endMs: end_ms, lastStartMs });
  }
  return groups;
}
