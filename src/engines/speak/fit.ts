/** Plans when each text of a dub is spoken, and how fast. Pure. */

import { hasWords, spokenText } from '../../media/subtitles/text.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';

/** A short pause before the next text, in milliseconds. */
const BREATH_MS = 100;
/** Speech may continue this long after the last cue, in milliseconds. */
const OVERRUN_MS = 1_500;
/** Cues that begin closer than this cannot be spoken one after the other in their own time. */
const MIN_SLOT_MS = 300;

/** A text to be spoken; times in milliseconds. */
export interface SpokenText {
  /** Numbers of the cues that it contains. */
  readonly indexes: readonly number[];
  readonly text: string;
  readonly startMs: number;
  /** The end of its cue. */
  readonly endMs: number;
  /** The latest end: the speech must end here. */
  readonly limitMs: number;
  /** Speech ends here if a faster tempo does it: with its cue, where a video that is not known may end. */
  readonly aimMs: number;
}

/**
 * Plans the slots: in order of time, without overlap. Each lasts until shortly before the next one. Cues that begin at
 * (nearly) the same time, such as those of two speakers, are spoken one after the other in a shared slot. Cues without
 * words to speak are skipped.
 * @param videoMs the end of the video; default: it is not known
 */
export function planSlots(lines: readonly SubtitleLine[], videoMs?: number): SpokenText[] {
  const spoken = lines
    .map((line) => ({ ...line, text: spokenText(line.text) }))
    .filter((line) => hasWords(line.text))
    .sort((a, b) => a.start_ms - b.start_ms);
  const groups: SubtitleLine[][] = [];
  for (const line of spoken) {
    const open = groups.at(-1);
    const together = open?.[0] !== undefined && line.start_ms - open[0].start_ms < MIN_SLOT_MS + BREATH_MS;
    if (together) open.push(line);
    else groups.push([line]);
  }
  return groups.map((group, at) => {
    const startMs = group[0]?.start_ms ?? 0;
    const endMs = Math.max(...group.map((line) => line.end_ms));
    const next = groups[at + 1]?.[0]?.start_ms;
    const free = next === undefined ? endMs + OVERRUN_MS : next - BREATH_MS;
    // Nothing is left of a cue that begins after the video.
    const limitMs = Math.max(startMs, Math.min(free, videoMs ?? free));
    return {
      indexes: group.map((line) => line.index),
      text: group.map((line) => line.text).join(' '),
      startMs,
      endMs: Math.min(endMs, limitMs),
      limitMs,
      aimMs: next === undefined && videoMs === undefined ? endMs : limitMs,
    };
  });
}

/** The length that a text may have, in seconds. */
export function availableSeconds({ startMs, limitMs }: SpokenText): number {
  return (limitMs - startMs) / 1000;
}

/**
 * The fastest speech, as a factor of the natural one. Above 1.6, words are hard to understand; the tempo of a voice differs by half a
 * percent from the planned one.
 */
const MOST_TEMPO = 1.59;
/** Between neighbours, a larger step sounds like another speaker: a quarter, less that half percent on both sides. */
const MOST_STEP = 1.24;
/** After a longer silence nobody compares the tempo, in milliseconds. */
const NEIGHBOUR_MS = 2_000;
/** Stretched speech may end half a window of the filter late (64 ms at 16 kHz), so this much of the slot stays free, in seconds. */
const MARGIN = 0.035;

/**
 * Returns the tempo of each text: natural (1) if it fits its slot, otherwise the lowest at which it fits, up to a limit. Above that
 * it must be cut. A text beside a faster one is also spoken faster, so that the tempo does not jump. No text is slowed: a
 * pause after it is natural.
 * @param seconds length of each text at its natural tempo
 */
export function planTempos(slots: readonly SpokenText[], seconds: readonly number[]): number[] {
  const tempos = slots.map((slot, at) => {
    const spoken = seconds[at] ?? 0;
    const available = (slot.aimMs - slot.startMs) / 1000;
    if (spoken <= available) return 1;
    return Math.min(MOST_TEMPO, spoken / Math.max(MARGIN, available - MARGIN));
  });
  const raise = (at: number, beside: number) => {
    tempos[at] = Math.max(tempos[at] ?? 1, (tempos[beside] ?? 1) / MOST_STEP);
  };
  const near = slots.map((slot, at) => {
    const next = slots[at + 1];
    const endMs = Math.max(slot.endMs, Math.min(slot.limitMs, slot.startMs + 1000 * (seconds[at] ?? 0)));
    return next !== undefined && next.startMs - endMs <= NEIGHBOUR_MS;
  });
  for (let at = 1; at < slots.length; at += 1) if (near[at - 1]) raise(at, at - 1);
  for (let at = slots.length - 2; at >= 0; at -= 1) if (near[at]) raise(at, at + 1);
  return tempos;
}
