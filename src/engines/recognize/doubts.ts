/** Finds recognized text that cannot have been said: models repeat themselves, and write words for silence and music. Pure. */

import { type Segment, SPEECH_MARGIN } from '../../media/audio/segments.ts';
import type { DROP_REASONS } from '../../protocol/provenance.ts';
import type { Word } from '../backend.ts';
import { groupWords, span } from './cues.ts';

/** Words that are doubtful together; at least one. */
export interface Doubt {
  readonly words: readonly Word[];
  readonly reason: (typeof DROP_REASONS)[number];
}

/** People say a phrase three times in a row, as in refrains; models that repeat themselves do not stop. */
const LOOP_TIMES = 4;
/** A word that is said again and again is a phrase only from this length: people say "no, no, no" up to a dozen times. */
const LEAST_SAME = 4;
/** The longest phrase that is looked for, in words: a long sentence. */
const MOST_PHRASE = 30;
/** Letters a second. The fastest speakers reach 25. */
const FASTEST = 30;
/** Letters that take a second even then; recognizers time shorter texts wrongly by more than they last. */
const TIMED_LETTERS = 30;
/** Detection misses soft speech, but seldom for longer, in seconds. */
const FAR_FROM_SPEECH = 1;
/** Letters of a text that takes a second to say; shorter ones, such as "Thank you", are often said again, and faster. */
const COPIED_LETTERS = 15;
/** People do not say a sentence again in less than this share of the time that they took for it first. */
const COPY_SHARE = 0.5;

/**
 * Finds doubtful words; each is in one doubt. A phrase and a text that are repeated are not doubtful the first time.
 * @param words in order of time
 * @param segments the times of speech, in order
 * @param punctuated see `wordsToCues`
 */
export function findDoubts(
  words: readonly Word[],
  segments: readonly Segment[],
  punctuated: boolean,
): Doubt[] {
  const loops = findLoops(words);
  const looped = new Set(loops.flatMap((loop) => loop.words));
  const cues = groupWords(
    words.filter((word) => !looped.has(word)),
    punctuated,
  ).map(({ part }) => part);
  const room = (at: number) => {
    const start = cues[at - 1]?.at(-1)?.end ?? 0;
    const end = cues[at + 1]?.[0]?.start ?? Number.POSITIVE_INFINITY;
    return roomFor(cues[at] ?? [], segments, { start, end });
  };
  return [
    ...loops,
    ...cues.flatMap((cue, at): Doubt[] => {
      const far = cue.filter((word) => isFar(word, segments));
      if (far.length > 0) return [{ words: far, reason: 'silence' }];
      const text = plainText(cue);
      const letters = text.match(/\p{L}/gu)?.length ?? 0;
      if (letters >= TIMED_LETTERS && letters > FASTEST * room(at)) return [{ words: cue, reason: 'fast' }];
      const before = cues[at - 1] ?? [];
      const isCopy = letters >= COPIED_LETTERS && text === plainText(before);
      if (isCopy && room(at) < COPY_SHARE * lengthOf(span(before))) return [{ words: cue, reason: 'copy' }];
      return [];
    }),
  ];
}

function findLoops(words: readonly Word[]): Doubt[] {
  const texts = words.map((word) => plainText([word]));
  const loops: Doubt[] = [];
  for (let at = 0; at < words.length; ) {
    const end = loopFrom(texts, at);
    if (end !== null) loops.push({ words: words.slice(end.first, end.next), reason: 'loop' });
    at = end?.next ?? at + 1;
  }
  return loops;
}

/** Where the phrase at a place is repeated: from its second time to the word after its last; null if it is not a loop. */
function loopFrom(texts: readonly string[], at: number): { first: number; next: number } | null {
  for (let length = 2; length <= MOST_PHRASE; length += 1) {
    const first = at + length;
    let next = first;
    while (next < texts.length && texts[next] === texts[next - length]) next += 1;
    if (next - first >= (LOOP_TIMES - 1) * length && isPhrase(texts.slice(at, first))) return { first, next };
  }
  return null;
}

/** Numbers, as of a telephone, are no phrase. */
function isPhrase(texts: readonly string[]): boolean {
  return texts.some((text) => /\p{L}/u.test(text)) && (texts.length >= LEAST_SAME || new Set(texts).size > 1);
}

function plainText(words: readonly Word[]): string {
  const letters = words.flatMap(({ text }) => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]/gu) ?? []);
  return letters.join('');
}

function isFar({ start, end, segment }: Word, segments: readonly Segment[]): boolean {
  const speech = segments[segment];
  return speech !== undefined && Math.max(speech.start - end, start - speech.end) > FAR_FROM_SPEECH;
}

/**
 * The seconds in which words can have been said: the time that the recognizer gave them, and all speech between their neighbours,
 * because that time may be wrong.
 */
function roomFor(words: readonly Word[], segments: readonly Segment[], free: Segment): number {
  const own = span(words);
  const around = segments.flatMap((segment) => {
    const start = Math.max(free.start, segment.start - SPEECH_MARGIN);
    const end = Math.min(free.end, segment.end + SPEECH_MARGIN);
    // Without the time that is counted already.
    return [
      lengthOf({ start, end: Math.min(end, own.start) }),
      lengthOf({ start: Math.max(start, own.end), end }),
    ];
  });
  return around.reduce((sum, length) => sum + length, lengthOf(own));
}

function lengthOf({ start, end }: Segment): number {
  return Math.max(0, end - start);
}
