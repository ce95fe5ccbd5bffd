/** When each text of a dub may be heard: pure. */
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { hasWords, stripMarkup } from '../text/markup.ts';

/** A breath before the next text, in milliseconds. */
const BREATH_MS = 80;
/** Speech may run on after its cue where nobody else speaks, in milliseconds: the picture bears that much. */
const OVERRUN_MS = 1_500;
/** Cues that begin closer than this cannot be spoken one after the other in their own time. */
const MIN_SLOT_MS = 300;

/** A text to be spoken; times in milliseconds. */
export interface Slot {
  /** Numbers of the cues that it speaks. */
  readonly indexes: readonly number[];
  readonly text: string;
  readonly startMs: number;
  /** Until when it should be heard: the end of its cue. */
  readonly endMs: number;
  /** Until when it may be heard. */
  readonly limitMs: number;
}

/**
 * Plans the slots: in order of time, none reaching into the next. Cues that begin at (nearly) the same time, as
 * two speakers do, are spoken one after the other in the slot they share. Cues without words are passed over.
 * @param totalMs where the track ends; Infinity when nothing ends it
 */
export function planSlots(lines: readonly SubtitleLine[], totalMs: number): Slot[] {
  const spoken = lines
    .map((line) => ({ ...line, text: stripMarkup(line.text).replaceAll('\n', ' ') }))
    .filter((line) => hasWords(line.text) && line.start_ms < totalMs)
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
    const endMs = Math.min(totalMs, Math.max(...group.map((line) => line.end_ms)));
    const nextMs = groups[at + 1]?.[0]?.start_ms ?? Number.POSITIVE_INFINITY;
    return {
      indexes: group.map((line) => line.index),
      text: group.map((line) => line.text).join(' '),
      startMs,
      endMs: Math.min(endMs, nextMs - BREATH_MS),
      limitMs: Math.min(totalMs, nextMs - BREATH_MS, endMs + OVERRUN_MS),
    };
  });
}
