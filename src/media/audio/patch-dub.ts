/** Puts a piece of a dub into an earlier track: every sample outside its places stays the same. */
import { join } from 'node:path';
import { explainFailures } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';
import { convertWav } from './decode-audio.ts';
import { measureVoice, type TimeRange, type Voice } from './voice.ts';
import { createWav, openWav, type WavReader } from './wav.ts';

/** A part of the track that is replaced; times in milliseconds. */
interface PatchPlace {
  readonly startMs: number;
  /** Null for the end of the track. */
  readonly endMs: number | null;
  /** Where the piece speaks; empty for silence. */
  readonly spoken: readonly TimeRange[];
}

export interface DubPatch {
  /** The earlier track, a 16-bit PCM WAV. */
  readonly track: string;
  /** A track with the same times that speaks in the places; null if all of them become silent. */
  readonly piece: string | null;
  /** In order of time, without overlap. */
  readonly places: readonly PatchPlace[];
}

/**
 * Writes the patched track into the work folder, in constant memory. It has the rate and the channels of the earlier track.
 * @returns its path
 */
export async function patchDub(programs: Programs, patch: DubPatch, run: EngineRun): Promise<string> {
  const path = join(run.folder, 'patched.wav');
  const track = await openWav(patch.track);
  try {
    const piece = patch.piece === null ? null : await openPiece(programs, patch.piece, track, run);
    try {
      await writePatched(path, track, piece, patch.places, run.signal);
    } finally {
      await piece?.close();
    }
  } finally {
    await track.close();
  }
  return path;
}

/** Opens a WAV file in the format of the track; converts it with ffmpeg if it has another one. */
async function openPiece(
  programs: Programs,
  path: string,
  { sampleRate, channels }: Pick<WavReader, 'sampleRate' | 'channels'>,
  run: EngineRun,
): Promise<WavReader> {
  const piece = await openWav(path).catch(() => null);
  if (piece?.sampleRate === sampleRate && piece.channels === channels) return piece;
  await piece?.close();
  const target = { sampleRate, channels };
  return explainFailures('the sound of the new lines cannot be read', async () =>
    openWav(await convertWav(programs, path, join(run.folder, 'piece.wav'), target, run)),
  );
}

/** Length of the fades between the old and the new sound, inside a place, in seconds. */
const FADE_SECONDS = 0.01;
/** Frames that are written at a time. */
const BLOCK = 65_536;

/** A place in frames. */
interface Span {
  readonly from: number;
  /** Infinity for the end of the track. */
  readonly to: number;
  readonly isSilent: boolean;
}

async function writePatched(
  path: string,
  track: WavReader,
  piece: WavReader | null,
  places: readonly PatchPlace[],
  signal: AbortSignal,
): Promise<void> {
  const frameOf = (ms: number) => Math.round((ms * track.sampleRate) / 1000);
  const spans = places.map(({ startMs, endMs, spoken }): Span => {
    const to = endMs === null ? Number.POSITIVE_INFINITY : frameOf(endMs);
    return { from: frameOf(startMs), to, isSilent: spoken.length === 0 };
  });
  const last = spans.at(-1);
  const isLonger = last !== undefined && last.to === Number.POSITIVE_INFINITY && !last.isSilent;
  const frames = isLonger ? Math.max(last.from, piece?.frames ?? 0) : track.frames;
  const fade = Math.round(FADE_SECONDS * track.sampleRate);
  const out = await createWav(path, track);
  try {
    for (let at = 0; at < frames; at += BLOCK) {
      signal.throwIfAborted();
      const count = Math.min(BLOCK, frames - at);
      const block = await track.read(at, count);
      const own = spans.filter(({ from, to }) => from < at + count && to > at);
      const isHeard = own.some(({ isSilent }) => !isSilent);
      const spoken = piece !== null && isHeard ? await piece.read(at, count) : null;
      for (const span of own)
        mix(block, span.isSilent ? null : spoken, { ...span, at, fade }, track.channels);
      await out.write(block);
    }
  } finally {
    await out.close();
  }
}

/** Replaces the samples of a block that lie in a span. @param at position of the block, in frames */
function mix(
  block: Int16Array,
  spoken: Int16Array | null,
  { from, to, at, fade }: Omit<Span, 'isSilent'> & { readonly at: number; readonly fade: number },
  channels: number,
): void {
  const ramp = Math.max(1, Math.min(fade, (to - from) / 2));
  const first = Math.max(from, at);
  const end = Math.min(to, at + block.length / channels);
  for (let frame = first; frame < end; frame += 1) {
    const share = Math.min(1, (frame - from + 0.5) / ramp, (to - frame - 0.5) / ramp);
    for (let channel = 0; channel < channels; channel += 1) {
      const place = (frame - at) * channels + channel;
      block[place] = Math.round((block[place] ?? 0) * (1 - share) + (spoken?.[place] ?? 0) * share);
    }
  }
}

/** Sentences of one speaker differ by a tenth; three semitones are heard as another voice. */
const MOST_PITCH_RATIO = 1.2;
/** Sentences of one speaker differ by two or three decibels; 6 are heard at once. */
const MOST_LEVEL_STEP = 6;

/**
 * Compares the voice of a piece with that of the track it is for, place by place: at the same times, where the track has enough
 * speech there, otherwise with all of it.
 * @returns how they differ, as a sentence without its stop; null if they sound alike
 */
export async function compareVoices(
  programs: Programs,
  { track, piece, places }: DubPatch,
  run: EngineRun,
): Promise<string | null> {
  if (piece === null) return null;
  const old = await openWav(track);
  try {
    const now = await openPiece(programs, piece, old, run);
    try {
      return await findDifference(old, now, places);
    } finally {
      await now.close();
    }
  } finally {
    await old.close();
  }
}

async function findDifference(
  old: WavReader,
  now: WavReader,
  places: readonly PatchPlace[],
): Promise<string | null> {
  let whole: Promise<Voice> | null = null;
  for (const { startMs, spoken } of places) {
    if (spoken.length === 0) continue;
    const there = await measureVoice(old, spoken);
    whole ??= there.pitch === null ? measureVoice(old, [[0, (old.frames / old.sampleRate) * 1000]]) : null;
    const before = there.pitch === null && whole !== null ? await whole : there;
    const difference = describeDifference(before, await measureVoice(now, spoken));
    if (difference !== null) return `at ${(startMs / 1000).toFixed(1)} s ${difference}`;
  }
  return null;
}

function describeDifference(before: Voice, now: Voice): string | null {
  if (now.level === null) return before.level === null ? null : 'it is silent';
  if (before.pitch !== null && now.pitch !== null) {
    const ratio = now.pitch / before.pitch;
    if (Math.max(ratio, 1 / ratio) > MOST_PITCH_RATIO)
      return `its pitch is ${Math.round(now.pitch)} Hz instead of ${Math.round(before.pitch)} Hz`;
  }
  if (before.level === null) return null;
  const step = now.level - before.level;
  if (Math.abs(step) <= MOST_LEVEL_STEP) return null;
  return `it is ${Math.abs(step).toFixed(0)} dB ${step > 0 ? 'louder' : 'quieter'}`;
}
