/** When each text of a dub may be heard, and how it is spoken to fit. */
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { hasWords, stripMarkup } from '../text.ts';
import { type Clip, clipSeconds, cutClip, type Speaking, speakText, speedUp } from './espeak.ts';

/** A breath before the next text, in milliseconds. */
const BREATH_MS = 80;
/** Speech may run on after its cue where nobody else speaks, in milliseconds: the picture bears that much. */
const OVERRUN_MS = 1_500;
/** Cues that begin closer than this cannot be spoken one after the other in their own time. */
const MIN_SLOT_MS = 300;

/** A text to be spoken; times in milliseconds. */
export interface SpokenText {
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
 * two speakers do, are spoken one after the other in the slot they share. Cues without words are skipped.
 * @param totalMs where the track ends; Infinity when nothing ends it
 */
export function planSlots(lines: readonly SubtitleLine[], totalMs: number): SpokenText[] {
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

/** An easy pace, also espeak-ng's own default is close to it. */
const NATURAL_RATE = 165;
/** Beyond these a voice sounds drowsy or cannot be followed. */
const MIN_RATE = 130;
const MAX_RATE = 260;
/** A text much shorter than its cue is spoken more slowly, so that mouth and voice stop together. */
const SHORT_SHARE = 0.85;
/** Rates are kept to about 1 %: aim a little under the slot. */
const AIM = 0.98;

/**
 * The rate to speak again at, or null when the first try fits.
 * @param spoken length at the natural rate, in seconds
 * @param slot length of the cue, in seconds
 * @param available how long it may at most be, in seconds
 */
export function fittingRate(spoken: number, slot: number, available: number): number | null {
  if (spoken <= 0) return null;
  if (spoken > available) return clampRate((NATURAL_RATE * spoken) / (available * AIM));
  if (spoken < slot * SHORT_SHARE) return clampRate((NATURAL_RATE * spoken) / (slot * AIM));
  return null;
}

function clampRate(rate: number): number {
  return Math.round(Math.max(MIN_RATE, Math.min(MAX_RATE, rate)));
}

/** Ends of a stretched sound are not exact to the sample; this much of the slot is left free, in seconds. */
const STRETCH_MARGIN = 0.01;

/** The factor to speed a recording up by so that it fits, 1 when it does already. */
export function fittingTempo(spoken: number, available: number): number {
  if (spoken <= available) return 1;
  return spoken / Math.max(STRETCH_MARGIN, available - STRETCH_MARGIN);
}

/** Four times as fast as the fastest rate nothing can be understood; what is still too long is cut off. */
const MAX_TEMPO = 4;

/** What was done to a text to make it fit; times in seconds. */
export interface Fit {
  /** Numbers of the cues that were spoken. */
  readonly indexes: readonly number[];
  /** Length of the cue, the length it was allowed, the length it came to. */
  readonly slot: number;
  readonly available: number;
  readonly spoken: number;
  /** Words a minute. */
  readonly rate: number;
  /** Factor by which the recording was sped up; 1 when it was not. */
  readonly tempo: number;
  /** How much was cut off at the end. */
  readonly cut: number;
}

/** Speaks a slot: at a natural rate, else at a fitting one, else sped up; the clip is never longer than allowed. */
export async function speakSlot(
  speaking: Speaking,
  slot: SpokenText,
  name: string,
): Promise<{ clip: Clip; fit: Fit }> {
  const length = (slot.endMs - slot.startMs) / 1000;
  const available = (slot.limitMs - slot.startMs) / 1000;
  let rate = NATURAL_RATE;
  let clip = await speakText(speaking, slot.text, rate);
  const better = fittingRate(clipSeconds(clip), length, available);
  if (better !== null && better !== rate) {
    rate = better;
    clip = await speakText(speaking, slot.text, rate);
  }
  const tempo = Math.min(MAX_TEMPO, fittingTempo(clipSeconds(clip), available));
  if (tempo > 1) clip = await speedUp(speaking, clip, tempo, name);
  const whole = clipSeconds(clip);
  clip = cutClip(clip, Math.floor(available * clip.sampleRate));
  const spoken = clipSeconds(clip);
  return {
    clip,
    fit: { indexes: slot.indexes, slot: length, available, spoken, rate, tempo, cut: whole - spoken },
  };
}
