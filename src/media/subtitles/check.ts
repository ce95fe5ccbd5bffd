/** Finds problems in subtitles, both for viewers and for the service, and inspects files that a user edited. */
import { LIMITS } from '../../protocol/limits.ts';
import { formatTime, SubtitleError } from '../../protocol/srt.ts';
import { isLongerThan, type SubtitleLine } from '../../protocol/subtitle-line.ts';
import { PreparationFailure } from '../programs/failures.ts';
import { readSubtitleFile, type ScannedCue, scanSubtitle } from './read.ts';
import { hasWords, stripMarkup } from './text.ts';

type FindingCode =
  | 'UNREADABLE'
  | 'NO_CUES'
  | 'ENDS_BEFORE_START'
  | 'OUT_OF_ORDER'
  | 'OVERLAP'
  | 'EMPTY'
  | 'NO_WORDS'
  | 'TOO_LONG_TEXT'
  | 'MARKUP'
  | 'TOO_SHORT'
  | 'TOO_LONG'
  | 'TOO_FAST'
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

/**
 * Shortest and longest time that a cue should be shown, in milliseconds. Source: Netflix Timed Text Style Guides,
 * "Duration".
 */
const SHORTEST_MS = 833;
const LONGEST_MS = 7000;
/** A cue that ends at most this long after the video is cut off without harm. */
const HARMLESS_REST_MS = 1000;

type Flaw = Pick<SubtitleProblem, 'code' | 'severity' | 'message' | 'advice'>;

/** Returns all findings, in the order of the cues. @param videoMs length of the video; null if unknown */
export function checkSubtitle(cues: readonly ScannedCue[], videoMs: number | null = null): SubtitleProblem[] {
  if (cues.length === 0) {
    const about = { row: null, cue: 0, time: formatTime(0) };
    return [{ ...about, ...error('NO_CUES', 'the file has no cues', 'check that it is an SRT file') }];
  }
  const stillSeen = findStillSeen(cues);
  const endMs = videoMs ?? Number.POSITIVE_INFINITY;
  const unseen = cues.filter(({ start_ms }) => start_ms >= endMs);
  return cues.flatMap((cue, at) => {
    const flaws = [
      ...flawsInTime(cue),
      ...flawsInOrder(cue, cues[at - 1]),
      ...flawsAgainst(cue, stillSeen.get(cue)),
      ...flawsAtEnd(cue, unseen, endMs),
      ...flawsInText(cue),
    ];
    const about = { row: cue.row, cue: cue.number, time: formatTime(cue.start_ms) };
    return flaws.map((flaw) => ({ ...about, ...flaw }));
  });
}

function flawsInTime({ start_ms, end_ms, text }: ScannedCue): Flaw[] {
  const lasts = end_ms - start_ms;
  if (lasts <= 0) {
    const message = `it ends at ${formatTime(end_ms)}, before it begins`;
    return [error('ENDS_BEFORE_START', message, 'swap or fix the two times')];
  }
  if (lasts < SHORTEST_MS) {
    const message = `it is shown for only ${lasts} ms (minimum ${SHORTEST_MS} ms)`;
    return [warning('TOO_SHORT', message, 'show it longer, or join it with its neighbour')];
  }
  const flaws: Flaw[] = [];
  if (lasts > LONGEST_MS) {
    const message = `it is shown for ${(lasts / 1000).toFixed(1)} s (maximum ${LONGEST_MS / 1000} s)`;
    flaws.push(warning('TOO_LONG', message, 'split it into two cues'));
  }
  const words = stripMarkup(text);
  const script = scriptOf(words);
  const speed = readingSpeed(words, script, lasts);
  if (speed > COMFORTABLE_SPEED[script]) {
    const most = COMFORTABLE_SPEED[script];
    const message = `reading speed is ${speed.toFixed(1)} characters/s (limit ${most})`;
    const needed = Math.ceil((lasts * speed) / most);
    flaws.push(
      warning('TOO_FAST', message, `shorten the text, or show it for ${(needed / 1000).toFixed(1)} s`),
    );
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

function flawsAgainst(cue: ScannedCue, other: ScannedCue | undefined): Flaw[] {
  const overlap = other === undefined ? 0 : other.end_ms - cue.start_ms;
  if (other === undefined || overlap <= 0) return [];
  const advice = `end cue ${other.number} at ${formatTime(cue.start_ms)}`;
  return [warning('OVERLAP', `it begins ${overlap} ms before cue ${other.number} ends`, advice)];
}

/** @param unseen all cues that begin at or after the end of the video */
function flawsAtEnd(cue: ScannedCue, unseen: readonly ScannedCue[], endMs: number): Flaw[] {
  if (cue.end_ms - endMs <= HARMLESS_REST_MS && cue.start_ms < endMs) return [];
  const lasts = `and the video lasts ${formatTime(endMs)}`;
  if (cue.start_ms < endMs) {
    return [warning('PAST_END', `it ends at ${formatTime(cue.end_ms)}, ${lasts}`, 'end it with the video')];
  }
  // Report only the first one: subtitles of another video may have hundreds, which would hide other problems.
  if (cue !== unseen[0]) return [];
  const count = unseen.length - 1;
  const others =
    count === 0 ? '' : ` (${count} more ${count === 1 ? 'cue begins' : 'cues begin'} after its end)`;
  const message = `it begins at ${formatTime(cue.start_ms)}, ${lasts}${others}`;
  return [warning('PAST_END', message, 'check that the subtitles belong to this video')];
}

function flawsInText({ text }: ScannedCue): Flaw[] {
  const words = stripMarkup(text);
  if (words === '') return [warning('EMPTY', 'it has no text', 'remove it')];
  const flaws: Flaw[] = [];
  if (isLongerThan(LIMITS.lineCharacters, text)) {
    const message = `it has more than ${LIMITS.lineCharacters} characters`;
    flaws.push(error('TOO_LONG_TEXT', message, 'split it; a blank line may be missing after a cue'));
  }
  if (!hasWords(words)) flaws.push(warning('NO_WORDS', 'it has no words, only symbols', 'remove it'));
  if (words.replaceAll(/\s/g, '') !== text.replaceAll(/\s/g, '')) {
    const message = 'it contains markup or control characters, which a voice does not speak';
    flaws.push(warning('MARKUP', message, 'remove it where it is left over'));
  }
  return flaws;
}

function error(code: FindingCode, message: string, advice: string): Flaw {
  return { code, severity: 'error', message, advice };
}

function warning(code: FindingCode, message: string, advice: string): Flaw {
  return { code, severity: 'warning', message, advice };
}

type Script = 'latin' | 'chinese' | 'japanese' | 'korean';

/**
 * Comfortable reading speed for adults, in characters per second. `latin` means all alphabets. Source: Netflix Timed
 * Text Style Guides, "Reading Speed Limits".
 */
const COMFORTABLE_SPEED: Record<Script, number> = { latin: 20, chinese: 9, japanese: 4, korean: 12 };

/** Returns the script of more than half of the letters. Any kana makes Chinese characters count as Japanese. */
function scriptOf(text: string): Script {
  const count = (letters: RegExp) => text.match(letters)?.length ?? 0;
  const hangul = count(/\p{Script=Hangul}/gu);
  const kana = count(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu);
  const han = count(/\p{Script=Han}/gu);
  if (hangul + kana + han <= count(/\p{L}/gu) / 2) return 'latin';
  if (hangul > kana + han) return 'korean';
  return kana > 0 ? 'japanese' : 'chinese';
}

/**
 * Returns characters per second without line breaks. In alphabets, spaces and punctuation count too, as is usual for
 * subtitles.
 */
function readingSpeed(text: string, script: Script, milliseconds: number): number {
  const counted = script === 'latin' ? text.replaceAll('\n', ' ') : text.replace(/[\s\p{P}]/gu, '');
  return ([...counted].length * 1000) / milliseconds;
}

export interface InspectedSubtitle {
  /** In order of time; null if the file cannot be read. In that case `findings` contains an error. */
  readonly lines: readonly SubtitleLine[] | null;
  readonly findings: readonly SubtitleProblem[];
}

/**
 * Reads and checks SRT, WebVTT or ASS. Never throws for faults of the file.
 * @param videoMs length of the video; null if unknown
 */
export function inspectSubtitle(
  bytes: Uint8Array,
  name: string,
  videoMs: number | null = null,
): InspectedSubtitle {
  const findings = findFlaws(bytes, name, videoMs);
  try {
    return { lines: inOrder(readSubtitleFile(bytes, name)), findings };
  } catch (error) {
    if (!(error instanceof PreparationFailure)) throw error;
    const isReported = findings.some(({ severity }) => severity === 'error');
    return { lines: null, findings: isReported ? findings : [...findings, unreadable(error)] };
  }
}

function findFlaws(bytes: Uint8Array, name: string, videoMs: number | null): readonly SubtitleProblem[] {
  try {
    const cues = scanSubtitle(bytes, name);
    // For a file without any times, the reader's own message is clearer.
    return cues.length === 0 ? [] : checkSubtitle(cues, videoMs);
  } catch (error) {
    if (error instanceof SubtitleError) return [];
    throw error;
  }
}

/** The reader's message contains the row if it is known. */
function unreadable({ message, advice, cause }: PreparationFailure): SubtitleProblem {
  const row = cause instanceof SubtitleError && cause.line > 0 ? cause.line : null;
  const why = cause instanceof SubtitleError ? cause.message.replace(/^line \d+: /, '') : message;
  return { code: 'UNREADABLE', severity: 'error', row, cue: 0, time: '00:00:00,000', message: why, advice };
}

/** Editors keep cues in the order in which they were typed. Voices and players go by the times. */
function inOrder(lines: readonly SubtitleLine[]): readonly SubtitleLine[] {
  return lines
    .toSorted((left, right) => left.start_ms - right.start_ms)
    .map((line, position) => ({ ...line, index: position + 1 }));
}
