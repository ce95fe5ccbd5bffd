/** Finds which cues of a dub must be spoken again after an edit, and where its track is replaced. Pure. */
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

/** Cues that begin closer than this may be spoken as one text, in milliseconds. The built-in voices do so below 400. */
const TOGETHER_MS = 400;
/**
 * Without a cue after it, speech may run on past the end of its own, in milliseconds: the built-in voices allow 1,500. A
 * cue that follows within this time is sent too, so that the speech before it ends in time.
 */
const FOLLOWING_MS = 2_000;

interface Cue {
  readonly line: SubtitleLine;
  readonly isNew: boolean;
  readonly isChanged: boolean;
}

/** Cues that share their time. */
interface Group {
  readonly cues: Cue[];
  readonly startMs: number;
  endMs: number;
  lastStartMs: number;
}

/**
 * Compares subtitles with those of which a dub was made. Cues whose time or text differs are changed, and so are those that
 * share their time: their speech cannot be told apart.
 * @param again numbers of cues that count as changed
 */
export function findChanges(
  before: Lines,
  now: Lines,
  again: ReadonlySet<number> = new Set<number>(),
): CueChanges {
  const places: Place[] = [];
  const sent: { readonly line: SubtitleLine; readonly number: number | null }[] = [];
  const { cues, kept } = compareCues(before, now, again);
  const groups = groupCues(cues);
  const isChanged = (group: Group | undefined) => group?.cues.some((cue) => cue.isChanged) === true;
  for (let at = 0; at < groups.length; at += 1) {
    if (!isChanged(groups[at])) continue;
    const startMs = groups[at]?.startMs ?? 0;
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

/** All new cues and the removed ones, in order of time. */
function compareCues(before: Lines, now: Lines, again: ReadonlySet<number>) {
  const left = Map.groupBy(before, identityOf);
  const kept: [number, number][] = [];
  const cues = now.map((line): Cue => {
    const same = left.get(identityOf(line))?.shift();
    if (same !== undefined) kept.push([same.index, line.index]);
    return { line, isNew: true, isChanged: same === undefined || again.has(line.index) };
  });
  const removed = [...left.values()].flat().map((line): Cue => ({ line, isNew: false, isChanged: true }));
  const all = [...cues, ...removed].sort((one, other) => one.line.start_ms - other.line.start_ms);
  return { cues: all, kept };
}

function identityOf({ start_ms, end_ms, text }: SubtitleLine): string {
  return `${start_ms} ${end_ms} ${text}`;
}

function groupCues(cues: readonly Cue[]): readonly Group[] {
  const groups: Group[] = [];
  for (const cue of cues) {
    const { start_ms, end_ms } = cue.line;
    const open = groups.at(-1);
    if (open !== undefined && (start_ms < open.endMs || start_ms - open.lastStartMs < TOGETHER_MS)) {
      open.cues.push(cue);
      open.endMs = Math.max(open.endMs, end_ms);
      open.lastStartMs = start_ms;
    } else groups.push({ cues: [cue], startMs: start_ms, endMs: end_ms, lastStartMs: start_ms });
  }
  return groups;
}
