/** Finds problems in subtitles, both for viewers and for the service, and inspects files that a user edited. */
import { LIMITS } from '../../protocol/limits.ts';
import { formatTime, SubtitleError, type SubtitleFault } from '../../protocol/srt.ts';
import { isLongerThan, type SpokenLine } from '../../protocol/subtitle-line.ts';
import { PreparationFailure } from '../programs/failures.ts';
import { splitSource } from './bilingual.ts';
import { readSpokenFile, type ScannedCue, scanText } from './read-subtitle.ts';
import { countCharacters, type SubtitleLimits, spokenLimits } from './style.ts';
import { hasWords, joinSpaced, stripDrawings, stripMarkup } from './text.ts';

type FindingCode =
  | 'UNREADABLE'
  | 'NO_CUES'
  | 'LAYOUT'
  | 'ENDS_BEFORE_START'
  | 'OUT_OF_ORDER'
  | 'OVERLAP'
  | 'GAP'
  | 'EMPTY'
  | 'NO_WORDS'
  | 'TOO_LONG_TEXT'
  | 'TOO_MANY_ROWS'
  | 'TOO_WIDE'
  | 'MARKUP'
  | 'TOO_SHORT'
  | 'TOO_LONG'
  | 'TOO_FAST'
  | 'SHOT_CHANGE'
  | 'SPEECH'
  | 'PAST_END';

export interface SubtitleProblem {
  readonly code: FindingCode;
  /** `error`: the service refuses the file or the cue cannot be shown; `warning`: it can be shown, but not well. */
  readonly severity: 'error' | 'warning';
  /** Row in the file; null if the cue does not come from a file. */
  readonly row: number | null;
  /** Number of the cue, from 1; 0 for the whole file. */
  readonly cue: number;
  /** For example `00:01:02,500`. */
  readonly time: string;
  /** The problem, without the final period. */
  readonly message: string;
  readonly advice: string;
}

/** The rules that a subtitle is checked against. */
export interface SubtitleStandard {
  readonly limits: SubtitleLimits;
  /** Length of the video; null if unknown. */
  readonly videoMs: number | null;
  /** Times of the shot changes of the video, in order; none if they are not known. */
  readonly shotsMs: readonly number[];
  /** Whether a voice will speak the text: then it should be words without markup. */
  readonly isSpoken: boolean;
}

/** A cue that ends at most this long after the video is cut off without harm. */
const HARMLESS_REST_MS = 1000;

/** A problem of a cue. */
interface Flaw extends Pick<SubtitleProblem, 'code' | 'severity' | 'message' | 'advice'> {
  /** How much is too much: milliseconds or characters, never 0. */
  readonly excess: number;
}

/** Returns all findings, in the order of the cues. */
export function checkSubtitle(cues: readonly ScannedCue[], standard: SubtitleStandard): SubtitleProblem[] {
  if (cues.length === 0) {
    const about = { row: null, cue: 0, time: formatTime(0) };
    const { excess: _, ...flaw } = error('NO_CUES', 'the file has no cues', 'check that it is an SRT file');
    return [{ ...about, ...flaw }];
  }
  const stillSeen = findStillSeen(cues);
  const endMs = standard.videoMs ?? Number.POSITIVE_INFINITY;
  const unseen = cues.filter(({ start_ms }) => start_ms >= endMs);
  return cues.flatMap((cue, at) => {
    const flaws = [
      ...flawsInOrder(cue, cues[at - 1]),
      ...findTimeFlaws(measureCue(cue, standard.limits), stillSeen.get(cue), standard),
      ...findRowFlaws(cue.text, standard.limits),
      ...flawsAfterEnd(cue, unseen, endMs),
      ...flawsInText(cue, standard.isSpoken),
      ...flawsInLayout(cue),
    ];
    const about = { row: cue.row, cue: cue.number, time: formatTime(cue.start_ms) };
    return flaws.map(({ excess: _, ...flaw }) => ({ ...about, ...flaw }));
  });
}

/** A cue as its times are checked. */
export interface TimedCue extends Pick<ScannedCue, 'number' | 'start_ms' | 'end_ms'> {
  /** The time that reading it takes, in whole milliseconds; 0 if a style does not say. */
  readonly readingMs: number;
}

export function measureCue({ number, start_ms, end_ms, text }: ScannedCue, limits: SubtitleLimits): TimedCue {
  const { charactersPerSecond: most } = limits;
  const row = joinSpaced(
    stripMarkup(text)
      .split('\n')
      .map((each) => each.trim()),
  );
  const readingMs = most === null ? 0 : Math.ceil((countCharacters(row, limits) * 1000) / most);
  return { number, start_ms, end_ms, readingMs };
}

type EarlierCue = Pick<ScannedCue, 'start_ms' | 'end_ms' | 'number'>;

/**
 * Returns the flaws of a cue that other times can remove.
 * @param other the earlier cue that is shown longest
 */
export function findTimeFlaws(
  cue: TimedCue,
  other: EarlierCue | undefined,
  { limits, videoMs, shotsMs }: SubtitleStandard,
): Flaw[] {
  return [
    ...flawsInTime(cue, limits),
    ...flawsAgainst(cue, other, limits),
    ...flawsAtEnd(cue, videoMs ?? Number.POSITIVE_INFINITY),
    ...flawsAtShots(cue, shotsMs, limits),
  ];
}

function flawsInTime({ start_ms, end_ms, readingMs }: TimedCue, limits: SubtitleLimits): Flaw[] {
  const lasts = end_ms - start_ms;
  if (lasts <= 0) {
    const message = `it ends at ${formatTime(end_ms)}, before it begins`;
    return [error('ENDS_BEFORE_START', message, 'swap or fix the two times')];
  }
  const { shortestMs, longestMs, charactersPerSecond: most } = limits;
  const flaws: Flaw[] = [];
  if (shortestMs !== null && lasts < shortestMs) {
    const message = `it is shown for only ${lasts} ms (minimum ${shortestMs} ms)`;
    const advice = 'show it longer, or join it with its neighbour';
    flaws.push(warning('TOO_SHORT', message, advice, shortestMs - lasts));
  }
  if (longestMs !== null && lasts > longestMs) {
    const message = `it is shown for ${(lasts / 1000).toFixed(1)} s (maximum ${longestMs / 1000} s)`;
    flaws.push(warning('TOO_LONG', message, 'split it into two cues', lasts - longestMs));
  }
  // Long enough to be seen is then long enough to be read.
  const isEnough = shortestMs !== null && lasts < shortestMs && readingMs <= shortestMs;
  if (most !== null && lasts < readingMs && !isEnough) {
    const speed = (readingMs * most) / lasts;
    const message = `reading speed is ${speed.toFixed(1)} characters/s (limit ${most})`;
    const advice = `shorten the text, or show it for ${(Math.ceil(readingMs / 100) / 10).toFixed(1)} s`;
    flaws.push(warning('TOO_FAST', message, advice, readingMs - lasts));
  }
  return flaws;
}

function flawsInOrder(cue: ScannedCue, before: ScannedCue | undefined): Flaw[] {
  if (before === undefined || cue.start_ms >= before.start_ms) return [];
  const message = `it begins before cue ${before.number}, which precedes it`;
  return [warning('OUT_OF_ORDER', message, 'sort the cues by time')];
}

/**
 * For each cue, finds the earlier cue that is shown longest. Cues are compared by time, because players ignore their
 * order.
 */
function findStillSeen(cues: readonly ScannedCue[]): ReadonlyMap<ScannedCue, ScannedCue> {
  const found = new Map<ScannedCue, ScannedCue>();
  let last: ScannedCue | null = null;
  for (const cue of cues.toSorted((left, right) => left.start_ms - right.start_ms)) {
    if (last !== null) found.set(cue, last);
    if (last === null || cue.end_ms > last.end_ms) last = cue;
  }
  return found;
}

function flawsAgainst(
  { start_ms }: Pick<ScannedCue, 'start_ms'>,
  other: EarlierCue | undefined,
  limits: SubtitleLimits,
): Flaw[] {
  const { gapFrames, frameMs } = limits;
  if (other === undefined) return [];
  const gap = start_ms - other.end_ms;
  if (gap < 0) {
    const end = endBefore(start_ms, limits);
    const advice =
      other.start_ms < end
        ? `end cue ${other.number} at ${formatTime(end)}`
        : `join it with cue ${other.number}`;
    return [warning('OVERLAP', `it begins ${-gap} ms before cue ${other.number} ends`, advice, -gap)];
  }
  // Times are rounded to milliseconds, in ASS to hundredths, so frames are counted to the nearest.
  const frames = Math.round(gap / frameMs);
  if (gapFrames === null || frames >= gapFrames) return [];
  const message = `it begins ${countFrames(frames)} after cue ${other.number} ends (minimum ${gapFrames})`;
  const advice = `end cue ${other.number} ${countFrames(gapFrames - frames)} earlier`;
  return [warning('GAP', message, advice, Math.ceil(gapFrames * frameMs) - gap)];
}

function countFrames(frames: number): string {
  return frames === 1 ? '1 frame' : `${frames} frames`;
}

type Times = Pick<ScannedCue, 'start_ms' | 'end_ms'>;

function flawsAtEnd({ start_ms, end_ms }: Times, endMs: number): Flaw[] {
  const rest = end_ms - endMs;
  if (start_ms >= endMs || rest <= HARMLESS_REST_MS) return [];
  const message = `it ends at ${formatTime(end_ms)}, and the video lasts ${formatTime(endMs)}`;
  return [warning('PAST_END', message, 'end it with the video', rest)];
}

/** @param unseen all cues that begin at or after the end of the video */
function flawsAfterEnd(cue: ScannedCue, unseen: readonly ScannedCue[], endMs: number): Flaw[] {
  // Report only the first one: subtitles of another video may have hundreds, which would hide other problems.
  if (cue !== unseen[0]) return [];
  const count = unseen.length - 1;
  const others =
    count === 0 ? '' : ` (${count} more ${count === 1 ? 'cue begins' : 'cues begin'} after its end)`;
  const begins = formatTime(cue.start_ms);
  const message = `it begins at ${begins}, and the video lasts ${formatTime(endMs)}${others}`;
  return [warning('PAST_END', message, 'check that the subtitles belong to this video')];
}

function flawsAtShots(
  { start_ms, end_ms }: Times,
  shotsMs: readonly number[],
  limits: SubtitleLimits,
): Flaw[] {
  const { shotChangeFrames: most, frameMs } = limits;
  if (most === null) return [];
  const flaws: Flaw[] = [];
  const atStart = nearestShot(shotsMs, start_ms);
  const late = atStart === null ? 0 : Math.round((start_ms - atStart) / frameMs);
  if (atStart !== null && late !== 0 && Math.abs(late) <= most) {
    const message = `it begins ${countFrames(Math.abs(late))} ${late > 0 ? 'after' : 'before'} a shot change`;
    const advice = `begin it at ${formatTime(atStart)}`;
    flaws.push(warning('SHOT_CHANGE', message, advice, Math.abs(start_ms - atStart)));
  }
  const atEnd = nearestShot(shotsMs, end_ms);
  const over = atEnd === null ? 0 : Math.round((end_ms - atEnd) / frameMs);
  const best = atEnd === null ? null : endBefore(atEnd, limits);
  if (best !== null && Math.abs(over) <= most && Math.round((end_ms - best) / frameMs) !== 0) {
    const where = over === 0 ? 'at' : `${countFrames(Math.abs(over))} ${over > 0 ? 'after' : 'before'}`;
    const advice = `end it at ${formatTime(best)}`;
    flaws.push(warning('SHOT_CHANGE', `it ends ${where} a shot change`, advice, Math.abs(end_ms - best)));
  }
  return flaws;
}

/** When a cue before a shot change or another cue ends: the gap before it, in whole milliseconds. */
export function endBefore(ms: number, { gapFrames, frameMs }: SubtitleLimits): number {
  return Math.max(0, Math.round(ms - (gapFrames ?? 0) * frameMs));
}

/** @param shotsMs in order */
export function nearestShot(shotsMs: readonly number[], ms: number): number | null {
  let from = 0;
  let to = shotsMs.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((shotsMs[middle] ?? 0) < ms) from = middle + 1;
    else to = middle;
  }
  const near = [shotsMs[from - 1], shotsMs[from]].filter((shot) => shot !== undefined);
  return near.toSorted((left, right) => Math.abs(left - ms) - Math.abs(right - ms))[0] ?? null;
}

/** Returns the flaws of a text that other line breaks can remove. */
export function findRowFlaws(text: string, limits: SubtitleLimits): Flaw[] {
  const { rows: mostRows, charactersPerRow: most } = limits;
  const rows = stripMarkup(text).split('\n');
  const flaws: Flaw[] = [];
  if (mostRows !== null && rows.length > mostRows) {
    const message = `it has ${rows.length} rows (limit ${mostRows})`;
    flaws.push(warning('TOO_MANY_ROWS', message, 'split it into two cues', rows.length - mostRows));
  }
  if (most === null) return flaws;
  const lengths = rows.map((row) => countCharacters(row, limits));
  const excess = lengths.reduce((sum, length) => sum + Math.max(0, length - most), 0);
  if (excess > 0) {
    const longest = lengths.reduce((left, right) => Math.max(left, right), 0);
    const message = `row ${lengths.indexOf(longest) + 1} has ${longest} characters (limit ${most})`;
    flaws.push(warning('TOO_WIDE', message, 'break the row, or shorten it', excess));
  }
  return flaws;
}

function flawsInText({ text, written }: ScannedCue, isSpoken: boolean): Flaw[] {
  const words = stripMarkup(text);
  if (words === '' && stripDrawings(written) !== written) return [];
  if (words === '') return [warning('EMPTY', 'it has no text', 'remove it')];
  const flaws: Flaw[] = [];
  if (isLongerThan(LIMITS.lineCharacters, text)) {
    const message = `it has more than ${LIMITS.lineCharacters} characters`;
    flaws.push(error('TOO_LONG_TEXT', message, 'split it; a blank line may be missing after a cue'));
  }
  if (!isSpoken) return flaws;
  if (!hasWords(words)) flaws.push(warning('NO_WORDS', 'it has no words, only symbols', 'remove it'));
  if (words.replaceAll(/\s/g, '') !== text.replaceAll(/\s/g, '')) {
    const message = 'it contains markup or control characters, which a voice does not speak';
    flaws.push(warning('MARKUP', message, 'remove it where it is left over'));
  }
  return flaws;
}

/** Some players end a cue at a blank row, and read on where none is. */
function flawsInLayout({ tightRow, written }: ScannedCue): Flaw[] {
  const advice = 'let `vloc subtitles fix` repair it';
  return [
    ...(tightRow === undefined ? [] : [warning('LAYOUT', 'the blank row before it is missing', advice)]),
    ...(hasBlankRows(written) ? [warning('LAYOUT', 'its text contains a blank row', advice)] : []),
  ];
}

/** @param written see `ScannedCue`; WebVTT and ASS have no blank rows in a cue */
export function hasBlankRows(written: string): boolean {
  return written.split('\n').includes('');
}

function error(code: FindingCode, message: string, advice: string): Flaw {
  return { code, severity: 'error', message, advice, excess: 1 };
}

function warning(code: FindingCode, message: string, advice: string, excess = 1): Flaw {
  return { code, severity: 'warning', message, advice, excess };
}

/** By what the text of the source is checked. */
interface SourceStandard {
  /** For messages. */
  readonly language: string;
  readonly standardOf: (text: string) => SubtitleStandard;
}

export interface InspectedSubtitle {
  /** In order of time; null if the file cannot be read. In that case `findings` contains an error. */
  readonly lines: readonly SpokenLine[] | null;
  readonly findings: readonly SubtitleProblem[];
}

/**
 * Reads and checks SRT, WebVTT or ASS whose text will be spoken. Never throws for faults of the file.
 * @param videoMs length of the video; null if unknown
 * @param language BCP 47 tag; null if unknown
 */
export function inspectSubtitle(
  bytes: Uint8Array,
  name: string,
  videoMs: number | null = null,
  language: string | null = null,
): InspectedSubtitle {
  return examineSubtitle(bytes, name, (text) => ({
    limits: spokenLimits(language, text),
    videoMs,
    shotsMs: [],
    isSpoken: true,
  }));
}

/**
 * Reads and checks SRT, WebVTT or ASS. Never throws for faults of the file.
 * @param standardOf returns the standard for the text of all cues
 * @param source that of the source, for a file that shows both, see `joinSource`; null for others
 */
export function examineSubtitle(
  bytes: Uint8Array,
  name: string,
  standardOf: (text: string) => SubtitleStandard,
  source: SourceStandard | null = null,
): InspectedSubtitle {
  const findings = findFlaws(bytes, name, standardOf, source);
  try {
    return { lines: inOrder(readSpokenFile(bytes, name)), findings };
  } catch (error) {
    if (!(error instanceof PreparationFailure)) throw error;
    const isReported = findings.some(({ severity }) => severity === 'error');
    const { message, advice, cause } = error;
    // Faults of the whole file, such as its encoding.
    const why = { row: null, message: cause instanceof SubtitleError ? cause.message : message };
    return { lines: null, findings: isReported ? findings : [...findings, unreadable(why, advice)] };
  }
}

function findFlaws(
  bytes: Uint8Array,
  name: string,
  standardOf: (text: string) => SubtitleStandard,
  source: SourceStandard | null,
): readonly SubtitleProblem[] {
  try {
    const { cues, faults } = scanText(bytes, name);
    const unread = faults.map((fault) => unreadable(fault, 'correct it in an editor'));
    // For a file without any times, the reader's own message is clearer.
    if (cues.length === 0) return unread;
    const own = source === null ? { lines: cues, source: [] } : splitSource(cues);
    const flaws = checkSubtitle(own.lines, standardOf(textOf(own.lines)));
    return [...unread, ...flaws, ...(source === null ? [] : checkSource(own.source, source))];
  } catch (error) {
    if (error instanceof SubtitleError) return [];
    throw error;
  }
}

/** Of the source only these: the times are those of the translation. */
const OF_TEXT: ReadonlySet<FindingCode> = new Set(['TOO_FAST', 'TOO_MANY_ROWS', 'TOO_WIDE']);

function checkSource(cues: readonly ScannedCue[], { language, standardOf }: SourceStandard) {
  const found = cues.length === 0 ? [] : checkSubtitle(cues, standardOf(textOf(cues)));
  return found
    .filter(({ code }) => OF_TEXT.has(code))
    .map((flaw) => ({ ...flaw, message: `in ${language}, ${flaw.message}` }));
}

/** The text of all cues, by which the language may be known. */
export function textOf(cues: readonly Pick<ScannedCue, 'text'>[]): string {
  return cues.map(({ text }) => text).join('\n');
}

function unreadable(
  { row, message }: Omit<SubtitleFault, 'row'> & Pick<SubtitleProblem, 'row'>,
  advice: string,
): SubtitleProblem {
  return { code: 'UNREADABLE', severity: 'error', row, cue: 0, time: formatTime(0), message, advice };
}

/** Editors keep cues in the order in which they were typed. Voices and players go by the times. */
function inOrder(lines: readonly SpokenLine[]): readonly SpokenLine[] {
  return lines
    .toSorted((left, right) => left.start_ms - right.start_ms)
    .map((line, position) => ({ ...line, index: position + 1 }));
}
