/** Finds sentences that span several cues. */

/** The only text of a cue. Times in milliseconds. */
export interface CueText {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Whether it may be joined at all: a cue of one speaker with words. */
  readonly isWhole: boolean;
}

/** Whatever closes a quotation or a bracket after it. */
const SENTENCE_END = /[.?!…。！？]["'”’»)\]」』]*$/u;
/** Descriptions of sounds, songs, and rows of another speaker are texts of their own. */
const STANDS_ALONE = /^\s*[-–—[(（【［]|[\])）】］:]\s*$|[♩♪♫♬]/u;

/** After a longer pause, the next words are rarely of the same sentence. */
const MAX_PAUSE_MS = 2_000;
/** Before a capital, a longer pause rather separates two sentences of which the first has no full stop. */
const SHORT_PAUSE_MS = 500;
/** Cues that overlap by more are shown together, such as those of two speakers. */
const MAX_OVERLAP_MS = 500;
/** More is no sentence, but a text without full stops. Both limits keep what is moved between cues small. */
const MAX_CUES = 6;
const MAX_CHARACTERS = 500;
/** Where fewer texts end with a mark, a missing one says nothing about where a sentence ends. */
const PUNCTUATED_SHARE = 1 / 3;

/**
 * Groups the texts of neighbouring cues into sentences. Returns all indexes, in order.
 * @param mostPauseMs a sentence does not continue after a longer pause
 */
export function groupSentences(texts: readonly CueText[], mostPauseMs = MAX_PAUSE_MS): number[][] {
  const ended = texts.filter(({ text }) => SENTENCE_END.test(text.trimEnd())).length;
  const isPunctuated = ended >= texts.length * PUNCTUATED_SHARE;
  const groups: number[][] = [];
  let length = 0;
  const continues = (previous: CueText, next: CueText) =>
    next.startMs - previous.endMs <= mostPauseMs && isContinued(previous, next, isPunctuated);
  for (const [at, next] of texts.entries()) {
    const group = groups.at(-1);
    const previous = texts[at - 1];
    const fits = (group?.length ?? 0) < MAX_CUES && length + next.text.length <= MAX_CHARACTERS;
    if (group !== undefined && previous !== undefined && fits && continues(previous, next)) {
      group.push(at);
      length += next.text.length;
    } else {
      groups.push([at]);
      length = next.text.length;
    }
  }
  return groups;
}

function isContinued(previous: CueText, next: CueText, isPunctuated: boolean): boolean {
  const pause = next.startMs - previous.endMs;
  if (!previous.isWhole || !next.isWhole) return false;
  if (pause < -MAX_OVERLAP_MS || next.startMs <= previous.startMs) return false;
  if (STANDS_ALONE.test(previous.text) || STANDS_ALONE.test(next.text)) return false;
  const before = previous.text.trimEnd();
  if (SENTENCE_END.test(before)) return false;
  const first = /[\p{L}\p{N}]/u.exec(next.text)?.[0] ?? '';
  if (/\p{Ll}/u.test(first) || /[,;،、，；]$/u.test(before)) return true;
  // A name, a German noun, "I", or a script without capitals.
  return isPunctuated && pause <= SHORT_PAUSE_MS && isCapitals(before) === isCapitals(next.text);
}

/** Titles in capitals have no full stop. */
function isCapitals(text: string): boolean {
  return /\p{Lu}/u.test(text) && !/\p{Ll}/u.test(text);
}
