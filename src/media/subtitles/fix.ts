/**
 * Fixes times and line breaks of subtitles, and nothing else: every other byte of the file stays. Each change makes something better
 * and nothing worse, so that fixing a file again changes nothing. Pure.
 */
import { LIMITS } from '../../protocol/limits.ts';
import { SubtitleError } from '../../protocol/srt.ts';
import { isLongerThan, type SubtitleFormat } from '../../protocol/subtitle-line.ts';
import {
  endBefore,
  findRowFlaws,
  findTimeFlaws,
  hasBlankRows,
  measureCue,
  nearestShot,
  type SubtitleStandard,
  type TimedCue,
  textOf,
} from './check.ts';
import { CUE_TEXT } from './cue-text.ts';
import { type CueEdit, editCues } from './edit-cues.ts';
import { encodeLike, type ScannedCue, type ScannedText, scanCues, scanText } from './read-subtitle.ts';
import { rewrapText } from './rewrap.ts';

interface FixedSubtitle {
  /** The bytes that were given, if nothing changed. */
  readonly bytes: Uint8Array;
  readonly changedCues: number;
}

/**
 * Fixes a file of any format. A file that cannot be read is returned as it is.
 * @param standardOf see `examineSubtitle`
 */
export function fixSubtitle(
  bytes: Uint8Array,
  name: string,
  standardOf: (text: string) => SubtitleStandard,
): FixedSubtitle {
  try {
    const scanned = scanText(bytes, name);
    const fixed = fixText(scanned, standardOf(textOf(scanned.cues)));
    const changedCues = scanned.cues.filter((cue, at) => !isSameCue(cue, fixed.cues[at])).length;
    return { bytes: changedCues === 0 ? bytes : encodeLike(bytes, fixed.text), changedCues };
  } catch (error) {
    if (error instanceof SubtitleError) return { bytes, changedCues: 0 };
    throw error;
  }
}

/** Changes a text as long as that makes it better: new times may allow line breaks, and line breaks times. */
function fixText(scanned: ScannedText, standard: SubtitleStandard): ScannedText {
  const next = changeText(scanned, standard);
  return next === null ? scanned : fixText(next, standard);
}

function changeText({ text, format, cues }: ScannedText, standard: SubtitleStandard): ScannedText | null {
  const rewrapped = cues.map((cue) => rewrapCue(cue, format, standard));
  const asTheyAre = cues.map((cue) => ({ cue, written: withoutBlankRows(cue) }));
  const isRewrapped = rewrapped.some(({ written }) => written !== null);
  for (const changes of isRewrapped ? [rewrapped, asTheyAre] : [asTheyAre]) {
    const edits = retimeCues(changes, standard, format);
    if (edits.length === 0) continue;
    const written = editCues(text, edits);
    const next = { text: written, format, ...scanCues(written, format) };
    // A row of digits alone could be read as the number of the next cue: such line breaks are not made.
    if (next.cues.length === cues.length && next.cues.every((cue, at) => letters(cue) === letters(cues[at])))
      return next;
  }
  return null;
}

function letters(cue: ScannedCue | undefined): string | undefined {
  return cue?.text.replace(/\s/g, '');
}

function isSameCue(cue: ScannedCue, other: ScannedCue | undefined): boolean {
  if (other === undefined || (cue.tightRow === undefined) !== (other.tightRow === undefined)) return false;
  return !isElsewhere(cue, other) && cue.text === other.text;
}

/** A cue with its new line breaks. */
interface Rewrapped {
  readonly cue: ScannedCue;
  /** The text as it is written in the file; null if it stays. */
  readonly written: string | null;
}

function rewrapCue(cue: ScannedCue, format: SubtitleFormat, standard: SubtitleStandard): Rewrapped {
  const { limits } = standard;
  const decode = (written: string) => ({ ...cue, text: CUE_TEXT[format].decode(written) });
  const whole = withoutBlankRows(cue);
  const old = whole === null ? cue : decode(whole);
  const same = { cue: old, written: whole };
  // A longer text is an error, and no row of a subtitle.
  if (isLongerThan(LIMITS.lineCharacters, old.text) || findRowFlaws(old.text, limits).length === 0)
    return same;
  const written = rewrapText(whole ?? cue.written, format, limits);
  const now = decode(written);
  const flaws = (each: ScannedCue) => [
    ...findTimeFlaws(measureCue(each, limits), undefined, standard),
    ...findRowFlaws(each.text, limits),
  ];
  return compareFlaws(flaws(old), flaws(now)) === 'better' ? { cue: now, written } : same;
}

/** The written text without blank rows; null if it has none. */
function withoutBlankRows({ written }: ScannedCue): string | null {
  if (!hasBlankRows(written) || written === '') return null;
  return written
    .split('\n')
    .filter((row) => row !== '')
    .join('\n');
}

type Flaws = ReturnType<typeof findTimeFlaws>;

/** Compares the flaws of a cue: worse if any rule is broken more than before, better if none is, and one is broken less. */
function compareFlaws(before: Flaws, after: Flaws): 'better' | 'same' | 'worse' {
  const excess = (flaws: Flaws, code?: string) =>
    flaws.reduce((sum, flaw) => sum + (code === undefined || flaw.code === code ? flaw.excess : 0), 0);
  if (after.some(({ code }) => excess(after, code) > excess(before, code))) return 'worse';
  return excess(after) < excess(before) ? 'better' : 'same';
}

/** A cue that may get other times. */
interface MovedCue extends TimedCue {
  readonly from: Rewrapped;
}

/** New cues by their place in the order of time. */
type Move = ReadonlyMap<number, MovedCue>;

/** Later times could not be read. */
const LATEST_MS = LIMITS.lineEndMs - 10;

/** Returns the cues that change. */
function retimeCues(
  changes: readonly Rewrapped[],
  standard: SubtitleStandard,
  format: SubtitleFormat,
): CueEdit[] {
  const cues: MovedCue[] = changes
    .map((from) => ({ from, ...measureCue(from.cue, standard.limits) }))
    .sort((left, right) => left.start_ms - right.start_ms);
  // Milliseconds, in ASS hundredths of a second.
  const step = format === 'ass' ? 10 : 1;
  // Each move makes a sum of whole milliseconds smaller, so this ends.
  for (let isMoving = true; isMoving; ) {
    isMoving = false;
    // The longest of the cues up to the one before the previous one, which no move of this cue changes.
    let longest: MovedCue | undefined;
    for (const at of cues.keys()) {
      for (const move of proposeMoves(cues, at, standard, step)) {
        const seen = move.has(at - 1) ? longest : longer(longest, cues[at - 1]);
        if (!improves(cues, move, standard, seen)) continue;
        for (const [place, cue] of move) cues[place] = cue;
        isMoving = true;
      }
      longest = longer(longest, cues[at - 1]);
    }
  }
  return cues
    .filter(
      ({ from, ...now }) =>
        from.written !== null || from.cue.tightRow !== undefined || isElsewhere(from.cue, now),
    )
    .map(({ from, start_ms, end_ms }) => ({ ...from, start_ms, end_ms }));
}

type Times = Pick<ScannedCue, 'start_ms' | 'end_ms'>;

function isElsewhere(cue: Times, now: Times): boolean {
  return cue.start_ms !== now.start_ms || cue.end_ms !== now.end_ms;
}

/** The cue that is shown longer, else the first one. */
function longer(left: MovedCue | undefined, right: MovedCue | undefined): MovedCue | undefined {
  return left === undefined || (right !== undefined && right.end_ms > left.end_ms) ? right : left;
}

/** The moves that may make a cue better, the best first. */
function proposeMoves(
  cues: readonly MovedCue[],
  at: number,
  standard: SubtitleStandard,
  step: number,
): Move[] {
  const { limits, videoMs } = standard;
  const cue = cues[at];
  const next = cues[at + 1];
  if (cue === undefined || cue.start_ms >= (videoMs ?? LATEST_MS)) return [];
  const down = (ms: number) => Math.floor(ms / step) * step;
  const up = (ms: number) => Math.ceil(ms / step) * step;
  const { start_ms: start, end_ms: end } = cue;
  const gapMs = (limits.gapFrames ?? 0) * limits.frameMs;
  const free = down(
    Math.min(
      next === undefined ? LATEST_MS : next.start_ms - gapMs,
      videoMs ?? LATEST_MS,
      limits.longestMs === null ? LATEST_MS : start + limits.longestMs,
    ),
  );
  const ends: number[] = [];
  const needed = Math.max(limits.shortestMs ?? 0, cue.readingMs);
  if (end - start < needed) {
    const wanted = Math.min(free, up(start + needed));
    const shot = findCloseShot(wanted, standard);
    const zoneMs = ((limits.shotChangeFrames ?? 0) + 1) * limits.frameMs;
    const besides = shot === null ? [] : [up(shot + zoneMs), down(endBefore(shot, limits))];
    ends.push(...[wanted, ...besides].filter((ms) => ms > end && ms <= free));
  }
  if (next !== undefined && end > next.start_ms - gapMs && !isMeant(cue, next))
    ends.push(down(next.start_ms - gapMs));
  if (videoMs !== null && end > videoMs) ends.push(down(videoMs));
  const shotAtEnd = findCloseShot(end, standard);
  if (shotAtEnd !== null) ends.push(Math.round(endBefore(shotAtEnd, limits) / step) * step);
  const moves = ends
    .filter((ms) => ms > start && ms !== end)
    .map((end_ms): Move => new Map([[at, { ...cue, end_ms }]]));
  const isSwapped = end < start && end >= (cues[at - 1]?.start_ms ?? 0);
  const swap: Move[] = isSwapped ? [new Map([[at, { ...cue, start_ms: end, end_ms: start }]])] : [];
  return [...swap, ...moves, ...proposeStarts(cues, at, standard, step)];
}

/** A cue that is shown around the next one, or mostly with it, is often a sign at another place. */
function isMeant({ start_ms: start, end_ms: end }: Times, next: Times): boolean {
  return next.start_ms < end && (next.end_ms <= end || next.start_ms - start < (end - start) / 2);
}

/** A start at a shot change, alone or with an earlier end of the cue before. */
function proposeStarts(
  cues: readonly MovedCue[],
  at: number,
  standard: SubtitleStandard,
  step: number,
): Move[] {
  const { limits } = standard;
  const [before, cue, next] = [cues[at - 1], cues[at], cues[at + 1]];
  const shot = cue === undefined ? null : findCloseShot(cue.start_ms, standard);
  if (cue === undefined || shot === null) return [];
  const start_ms = Math.round(shot / step) * step;
  const earliest = before?.start_ms ?? 0;
  const latest = Math.min(next?.start_ms ?? LATEST_MS, cue.end_ms - 1);
  if (start_ms === cue.start_ms || start_ms < earliest || start_ms > latest) return [];
  const alone: Move = new Map([[at, { ...cue, start_ms }]]);
  const end_ms = Math.floor(endBefore(shot, limits) / step) * step;
  if (before === undefined || before.end_ms <= end_ms || end_ms <= before.start_ms) return [alone];
  const both = new Map([
    [at - 1, { ...before, end_ms }],
    [at, { ...cue, start_ms }],
  ]);
  return [alone, both];
}

/** The shot change that is so close to a time that a cue should neither begin nor end there. */
function findCloseShot(ms: number, { limits, shotsMs }: SubtitleStandard): number | null {
  const shot = nearestShot(shotsMs, ms);
  const frames = shot === null ? 0 : Math.abs(Math.round((ms - shot) / limits.frameMs));
  return frames <= (limits.shotChangeFrames ?? -1) ? shot : null;
}

/**
 * Whether a move makes something better and nothing worse, for the moved cues and those that they can touch.
 * @param seen the cue before them that is shown longest
 */
function improves(
  cues: readonly MovedCue[],
  move: Move,
  standard: SubtitleStandard,
  seen: MovedCue | undefined,
): boolean {
  const places = [...move.keys()];
  const ends = places.flatMap((place) => [cues[place]?.end_ms ?? 0, move.get(place)?.end_ms ?? 0]);
  const { gapFrames, frameMs } = standard.limits;
  const reach = Math.max(...ends) + ((gapFrames ?? 0) + 1) * frameMs;
  let [seenBefore, seenAfter] = [seen, seen];
  let isBetter = false;
  for (let at = Math.min(...places); at < cues.length; at += 1) {
    const before = cues[at];
    if (before === undefined || (at > Math.max(...places) && before.start_ms >= reach)) break;
    const after = move.get(at) ?? before;
    const flaws = findTimeFlaws(before, seenBefore, standard);
    const result = compareFlaws(flaws, findTimeFlaws(after, seenAfter, standard));
    if (result === 'worse') return false;
    if (result === 'better') isBetter = true;
    seenBefore = longer(seenBefore, before);
    seenAfter = longer(seenAfter, after);
  }
  return isBetter;
}
