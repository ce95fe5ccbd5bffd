/** Plans when each text of a dub is spoken, and how it is spoken to fit. */
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { Clip, EngineRun, Speaker, SpeechRequest } from '../backend.ts';
import type { CueFit } from '../engine.ts';
import type { Programs } from '../programs.ts';
import { hasWords, spokenText } from '../text.ts';
import { clipSeconds, cutClip, speedUp } from './clip.ts';

/** A short pause before the next text, in milliseconds. */
const BREATH_MS = 80;
/**
 * Speech may continue after its cue if no one else speaks, in milliseconds. More would be noticeable in the picture.
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
 * speakers, are spoken one after the other in a shared slot. Cues without words to speak are skipped.
 * @param totalMs end of the track; Infinity if it has no fixed end
 */
export function planSlots(lines: readonly SubtitleLine[], totalMs: number): SpokenText[] {
  const spoken = lines
    .map((line) => ({ ...line, text: spokenText(line.text) }))
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

/** A text much shorter than its cue is spoken more slowly, so that voice and lips stop together. */
const SHORT_SHARE = 0.85;
/** The actual rate differs by about 1 %, so aim slightly below the slot. */
const AIM = 0.98;

/** A speed this close to the natural one cannot be heard, and is not worth a second try. */
const SAME_SPEED = 0.003;

/**
 * Returns the speed for a second try, or null if the first try fits or the voice has only its natural speed.
 * @param spoken length at the natural speed, in seconds
 * @param slot length of the cue, in seconds
 * @param available the longest allowed length, in seconds
 */
export function fittingSpeed(
  speeds: Speaker['speeds'],
  { spoken, slot, available }: { spoken: number; slot: number; available: number },
): number | null {
  if (spoken <= 0 || speeds === null) return null;
  const goal = spoken > available ? available : spoken < slot * SHORT_SHARE ? slot : null;
  if (goal === null) return null;
  const speed = Math.max(speeds.least, Math.min(speeds.most, spoken / (goal * AIM)));
  return Math.abs(speed - 1) < SAME_SPEED ? null : speed;
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

/** A speaker with the voice of a dub. */
export interface Speaking extends EngineRun, Pick<SpeechRequest, 'language' | 'voiceMode'> {
  readonly programs: Programs;
  readonly speaker: Speaker;
}

/**
 * Speaks a slot at a natural speed; if that is too long, at a fitting speed; if that is still too long, the recording is
 * sped up. The clip is never longer than allowed.
 * @param name for temporary files; unique among concurrent calls
 */
export async function speakSlot(
  speaking: Speaking,
  slot: SpokenText,
  name: string,
): Promise<{ clip: Clip; fit: CueFit }> {
  const { speaker, language, voiceMode, programs, ...run } = speaking;
  const available = (slot.limitMs - slot.startMs) / 1000;
  const say = (speed: number) => speaker.speak({ text: slot.text, language, voiceMode, speed }, run);
  let clip = await say(1);
  const spoken = clipSeconds(clip);
  const better = fittingSpeed(speaker.speeds, {
    spoken,
    slot: (slot.endMs - slot.startMs) / 1000,
    available,
  });
  if (better !== null) clip = await say(better);
  const tempo = Math.min(MAX_TEMPO, fittingTempo(clipSeconds(clip), available));
  if (tempo > 1) clip = await speedUp({ ...run, programs, name }, clip, tempo);
  const whole = clipSeconds(clip);
  clip = cutClip(clip, Math.floor(available * clip.sampleRate));
  const seconds = clipSeconds(clip);
  const cutSeconds = whole - seconds;
  const fit = cutSeconds > 0 ? 'cut' : tempo > 1 ? 'tempo' : better === null ? 'none' : 'speed';
  const speed = better ?? 1;
  const lengths = { seconds, allowedSeconds: available, cutSeconds };
  return { clip, fit: { cues: slot.indexes, fit, speed, tempo, ...lengths } };
}
