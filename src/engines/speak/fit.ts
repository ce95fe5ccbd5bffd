/** Speaks one slot of a dub so that it fits. */
import { type Clip, clipSeconds, cutClip } from './clip.ts';
import { type Speaking, speakText, speedUp } from './espeak.ts';
import { fittingRate, fittingTempo, NATURAL_RATE } from './rate.ts';
import type { Slot } from './slots.ts';

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
  slot: Slot,
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
