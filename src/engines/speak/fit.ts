/** Plans when each text of a dub is spoken, and how fast. Pure. */

import type { Segment } from '../../media/audio/segments.ts';
import { joinSpaced } from '../../media/subtitles/text.ts';
import { groupUtterances, mostEarlyMs, type SpokenPart } from '../../media/subtitles/utterances.ts';
import { NOTICED_SHIFT } from '../../protocol/provenance.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';

/** A short pause before the next text, in milliseconds. */
const BREATH_MS = 100;
/** Speech may continue this long after the last cue, in milliseconds. */
const OVERRUN_MS = 1_500;

/** A text to be spoken; times in milliseconds. */
export interface SpokenText {
  /** Numbers of the cues that it contains. */
  readonly indexes: readonly number[];
  /** Its cues, in order of time; more than one for a sentence. */
  readonly parts: readonly SpokenPart[];
  readonly text: string;
  /** If it does not fit otherwise, it begins up to this much before its first cue. */
  readonly earliestMs: number;
  readonly startMs: number;
  /** The end of its last cue. */
  readonly endMs: number;
  /** The latest end: the speech must end here. */
  readonly limitMs: number;
  /** Speech ends here if a faster tempo does it: with its cue, where a video that is not known may end. */
  readonly aimMs: number;
}

/**
 * Plans the texts: in order of time, without overlap, and none without words. Each lasts until shortly before the next one.
 * @param videoMs the end of the video; default: it is not known
 */
export function planSlots(lines: readonly SubtitleLine[], videoMs?: number): SpokenText[] {
  const utterances = groupUtterances(lines);
  const sorted = lines.toSorted((one, other) => one.start_ms - other.start_ms);
  let before = 0;
  let read = 0;
  return utterances.map((parts, at) => {
    const startMs = parts[0]?.startMs ?? 0;
    const endMs = Math.max(...parts.map((part) => part.endMs));
    const next = utterances[at + 1]?.[0]?.startMs;
    const free = next === undefined ? endMs + OVERRUN_MS : next - BREATH_MS;
    // Nothing is left of a cue that begins after the video.
    const limitMs = Math.max(startMs, Math.min(free, videoMs ?? free));
    for (; (sorted[read]?.start_ms ?? startMs) < startMs; read += 1)
      before = Math.max(before, sorted[read]?.end_ms ?? 0);
    const earlyMs = limitMs === startMs ? 0 : mostEarlyMs(startMs, before);
    return slotOf(parts, {
      earliestMs: startMs - earlyMs,
      limitMs,
      aimMs: next === undefined && videoMs === undefined ? endMs : limitMs,
    });
  });
}

function slotOf(
  parts: readonly SpokenPart[],
  { earliestMs, limitMs, aimMs }: Pick<SpokenText, 'earliestMs' | 'limitMs' | 'aimMs'>,
): SpokenText {
  return {
    indexes: parts.flatMap(({ indexes }) => indexes),
    parts,
    text: joinSpaced(parts.map(({ text }) => text)),
    earliestMs,
    startMs: parts[0]?.startMs ?? 0,
    endMs: Math.min(limitMs, Math.max(...parts.map((part) => part.endMs))),
    ...{ limitMs, aimMs },
  };
}

/** The length that a text may have, in seconds. */
export function availableSeconds({
  earliestMs,
  limitMs,
}: Pick<SpokenText, 'earliestMs' | 'limitMs'>): number {
  return (limitMs - earliestMs) / 1000;
}

/** A pause at the end of a clause lies this close to where the letters say that it is, in seconds. */
const CLAUSE_SECONDS = 0.5;
const CLAUSE_END = /[,;:…،、，；：]["'”’»)\]」』]*$/u;

/** A part of a text: where it ends in it, and when its words begin, in seconds of the speech. */
interface PartTime {
  readonly end: number;
  readonly time: number;
}

/** Finds when each part of a text begins in its speech: by its letters, and after a pause where a clause ends before it. */
function timeParts(
  { parts, text }: Pick<SpokenText, 'parts' | 'text'>,
  seconds: number,
  pauses: readonly Segment[],
): PartTime[] {
  const voiced = seconds - pauses.reduce((sum, { start, end }) => sum + end - start, 0);
  let end = 0;
  return parts.map((part, at) => {
    const from = text.indexOf(part.text, end);
    end = from + part.text.length;
    if (at === 0) return { end, time: 0 };
    let time = (voiced * from) / text.length;
    for (const pause of pauses) if (pause.start <= time) time += pause.end - pause.start;
    const nearest = nearestTo(pauses, time);
    const isClause = CLAUSE_END.test(parts[at - 1]?.text ?? '') && nearest !== undefined;
    return { end, time: isClause && Math.abs(nearest.end - time) <= CLAUSE_SECONDS ? nearest.end : time };
  });
}

function nearestTo(pauses: readonly Segment[], time: number): Segment | undefined {
  return pauses.toSorted((one, other) => Math.abs(one.end - time) - Math.abs(other.end - time))[0];
}

/** The words of a later cue may take this much longer when they are spoken by themselves. */
const ALONE_SHARE = 1.1;

/**
 * Divides a text whose natural speech would say the words of a later cue so early that it is noticed, if the rest has time enough
 * in its own cue; null if it stays whole.
 */
export function divideSlot(
  slot: SpokenText,
  seconds: number,
  pauses: readonly Segment[],
): readonly [SpokenText, SpokenText] | null {
  const times = timeParts(slot, seconds, pauses);
  const place = slot.parts.findIndex(({ startMs }, at) => {
    const time = times[at]?.time ?? 0;
    const early = (startMs - slot.startMs) / 1000 - time;
    return early > NOTICED_SHIFT && ALONE_SHARE * (seconds - time) <= (slot.aimMs - startMs) / 1000;
  });
  const startMs = slot.parts[place]?.startMs;
  if (startMs === undefined) return null;
  const end = startMs - BREATH_MS;
  const head = slotOf(slot.parts.slice(0, place), { ...slot, limitMs: end, aimMs: end });
  return [head, slotOf(slot.parts.slice(place), { ...slot, earliestMs: startMs })];
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

/** When a text begins, in milliseconds, and its tempo; 1 is natural. */
export interface Placement {
  readonly startMs: number;
  readonly tempo: number;
}

/**
 * Places each text: with its cue and at its natural tempo if it fits so, otherwise earlier, if there is a pause before it, and only
 * then at the lowest tempo at which it fits, up to a limit. Above that it must be cut. A text beside a faster one that fits is also
 * spoken faster, so that the tempo does not jump. No text is slowed: a pause after it is natural.
 * @param seconds length of each text at its natural tempo
 */
export function placeTexts(slots: readonly SpokenText[], seconds: readonly number[]): Placement[] {
  let freeMs = 0;
  const planned = slots.map((slot, at) => {
    const spoken = seconds[at] ?? 0;
    const earliestMs = Math.min(slot.startMs, Math.max(slot.earliestMs, freeMs));
    const room = (slot.aimMs - earliestMs) / 1000;
    const needed = spoken <= room ? 1 : spoken / Math.max(MARGIN, room - MARGIN);
    const tempo = Math.min(MOST_TEMPO, needed);
    const lengthMs = lengthAt(tempo, spoken);
    const startMs = startOf({ ...slot, earliestMs }, lengthMs);
    freeMs = Math.min(slot.limitMs, startMs + lengthMs) + BREATH_MS;
    return { earliestMs, tempo, fits: needed <= MOST_TEMPO };
  });
  const tempos = planned.map(({ tempo }) => tempo);
  const raise = (at: number, beside: number) => {
    if (planned[beside]?.fits === false) return;
    tempos[at] = Math.max(tempos[at] ?? 1, (tempos[beside] ?? 1) / MOST_STEP);
  };
  const near = slots.map((slot, at) => {
    const next = slots[at + 1];
    const endMs = Math.max(slot.endMs, Math.min(slot.limitMs, slot.startMs + 1000 * (seconds[at] ?? 0)));
    return next !== undefined && next.startMs - endMs <= NEIGHBOUR_MS;
  });
  for (let at = 1; at < slots.length; at += 1) if (near[at - 1]) raise(at, at - 1);
  for (let at = slots.length - 2; at >= 0; at -= 1) if (near[at]) raise(at, at + 1);
  return slots.map((slot, at) => {
    const tempo = tempos[at] ?? 1;
    const earliestMs = planned[at]?.earliestMs ?? slot.startMs;
    return { tempo, startMs: startOf({ ...slot, earliestMs }, lengthAt(tempo, seconds[at] ?? 0)) };
  });
}

function lengthAt(tempo: number, seconds: number): number {
  return 1000 * (seconds / tempo + (tempo > 1 ? MARGIN : 0));
}

function startOf({ earliestMs, startMs, aimMs }: SpokenText, lengthMs: number): number {
  return Math.min(startMs, Math.max(earliestMs, Math.floor(aimMs - lengthMs)));
}

/** A pause of the speech meets the start of a cue that is this near, in seconds. */
const MEETING_SECONDS = 0.25;
/** A shorter pause would join two clauses, in seconds. */
const LEAST_PAUSE = 0.05;

/** A change of a pause: it ends at `at` seconds of the speech, and becomes longer by `by` seconds, or shorter. */
interface PauseChange {
  readonly at: number;
  readonly by: number;
}

/** A cue of a text: where its words end in it, and how much later than the cue they begin, in seconds. */
interface CueShift {
  readonly cue: number;
  readonly end: number;
  readonly shift: number;
}

/**
 * Changes pauses of a speech so that it goes on with a later cue wherever the start of one is near. It does not become longer than
 * its slot.
 * @param seconds length of the speech, which begins at `startMs`
 */
export function meetCues(
  slot: SpokenText,
  startMs: number,
  seconds: number,
  pauses: readonly Segment[],
): { readonly changes: readonly PauseChange[]; readonly shifts: readonly CueShift[] } {
  const changes: PauseChange[] = [];
  const starts = slot.parts.map((part) => (part.startMs - startMs) / 1000);
  let shift = 0;
  for (const start of starts.slice(1)) {
    const later = pauses.filter(({ end }) => end > (changes.at(-1)?.at ?? 0));
    const pause = nearestTo(later, start - shift);
    const wanted = start - shift - (pause?.end ?? Number.NEGATIVE_INFINITY);
    if (pause === undefined || Math.abs(wanted) > MEETING_SECONDS) continue;
    const most = Math.max(0, (slot.limitMs - startMs) / 1000 - seconds - shift);
    const by = Math.max(Math.min(wanted, most), Math.min(0, LEAST_PAUSE - (pause.end - pause.start)));
    changes.push({ at: pause.end, by });
    shift += by;
  }
  const shifts = timeParts(slot, seconds, pauses).flatMap(({ end, time }, at) => {
    const moved = changes.reduce((sum, change) => sum + (change.at <= time ? change.by : 0), time);
    return (slot.parts[at]?.indexes ?? []).map((cue) => ({ cue, end, shift: moved - (starts[at] ?? 0) }));
  });
  return { changes, shifts };
}
