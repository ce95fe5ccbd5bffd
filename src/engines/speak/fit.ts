/** Plans when each text of a dub is spoken, and how it is spoken to fit. */
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { hasWords, stripMarkup } from '../text.ts';
import { type Clip, clipSeconds, cutClip, type Speaking, speakText, speedUp } from './espeak.ts';

/** A short pause before the next text, in milliseconds. */
const BREATH_MS = 80;
/**
 * Speech may continue after its cue if nobody else speaks, in milliseconds. More would be noticeable in the picture.
 */
const OVERRUN_MS = 1_500;
/** Cues that begin closer than this cannot be spoken one after the other in their own time. */
const MIN_SLOT_MS = 300;

/** A text to be spoken; times in milliseconds. */
export interface SpokenText {
  /** Numbers of the cues that it contains. */
  readonly indexes: readonly number[];
  readonly text: string;
  readonly startMs: number;
  /** The end of its cue: the speech should end here. */
  readonly endMs: number;
  /** The latest end: the speech must end here. */
  readonly limitMs: number;
}

/**
 * Plans the slots: in order of time, without overlap. Cues that begin at (nearly) the same time, such as those of two
 * speakers, are spoken one after the other in a shared slot. Cues without words are skipped.
 * @param totalMs end of the track; Infinity if it has no fixed end
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

/** A comfortable pace, close to the default of espeak-ng. */
const NATURAL_RATE = 165;
/** Outside these rates a voice sounds sleepy or is too fast to understand. */
const MIN_RATE = 130;
const MAX_RATE = 260;
/** A text much shorter than its cue is spoken more slowly, so that voice and lips stop together. */
const SHORT_SHARE = 0.85;
/** The actual rate differs by about 1 %, so aim slightly below the slot. */
const AIM = 0.98;

/**
 * Returns the rate for a second try, or null if the first try fits.
 * @param spoken length at the natural rate, in seconds
 * @param slot length of the cue, in seconds
 * @param available the longest allowed length, in seconds
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

/** The length of a stretched sound is not exact to the sample, so this part of the slot is left free, in seconds. */
const STRETCH_MARGIN = 0.01;

/** Returns the factor to speed up a recording so that it fits; 1 if it already fits. */
export function fittingTempo(spoken: number, available: number): number {
  if (spoken <= available) return 1;
  return spoken / Math.max(STRETCH_MARGIN, available - STRETCH_MARGIN);
}

/** At four times the fastest rate nothing can be understood. The rest of a clip that is still too long is cut off. */
const MAX_TEMPO = 4;

/** How a text was made to fit. Times are in seconds. */
export interface Fit {
  /** Numbers of the cues that were spoken. */
  readonly indexes: readonly number[];
  /** Length of the cue, the allowed length, the actual length. */
  readonly slot: number;
  readonly available: number;
  readonly spoken: number;
  /** Words per minute. */
  readonly rate: number;
  /** Factor by which the recording was sped up; 1 if it was not. */
  readonly tempo: number;
  /** Length that was cut off at the end. */
  readonly cut: number;
}

/**
 * Speaks a slot at a natural rate; if that is too long, at a fitting rate; if that is still too long, sped up. The clip
 * is never longer than allowed.
 */
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
