/** Dubbing: speaks cues into one sound track on their time line. */
import { join } from 'node:path';
import { JobFailure } from '../../protocol/job-failure.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { VoiceMode, Work } from '../engine.ts';
import { fileAddress, ownInput, QUIET } from '../media/arguments.ts';
import { STEM_FORMAT } from '../media/decode-audio.ts';
import { createWav, type WavWriter } from '../media/wav.ts';
import type { Programs } from '../programs.ts';
import { together } from '../together.ts';
import { ESPEAK_RATE, type Speaking } from './espeak.ts';
import { type Fit, planSlots, type SpokenText, speakSlot } from './fit.ts';
import { chooseVoice, listVoices } from './voices.ts';

/**
 * The longest track: longer than any film, and 1.4 GB at 48 kHz. Without the limit, one wrong cue at hour 99 would fill
 * the disk.
 */
const MAX_TRACK_MS = 4 * 3600 * 1000;

/** Samples of silence that are written at a time. */
const SILENCE_BLOCK = 65_536;

export interface Dub {
  /** 48 kHz mono WAV. */
  readonly path: string;
  readonly durationSeconds: number;
  /** One entry per spoken text, in order of time. */
  readonly fits: readonly Fit[];
}

interface DubTask {
  readonly lines: readonly SubtitleLine[];
  readonly targetLanguage: string;
  readonly voiceMode: VoiceMode;
  /** Length of the track; null for the length of the cues and the speech. */
  readonly durationSeconds: number | null;
}

/**
 * Speaks all cues into one track. Each starts at the start of its cue, and none overlaps the next.
 * @throws JobFailure LANGUAGE_NOT_SUPPORTED without a voice, DURATION_EXCEEDED above four hours, SUBTITLE_INVALID for
 * more than 5,000 characters at one time
 */
export async function speak(programs: Programs, task: DubTask, work: Work): Promise<Dub> {
  const voice = chooseVoice(await listVoices(programs, work), task.targetLanguage, task.voiceMode);
  if (voice === null) {
    const message = `there is no voice for "${task.targetLanguage}"; see the available languages with: vloc engines list`;
    throw new JobFailure('LANGUAGE_NOT_SUPPORTED', message);
  }
  const endMs = Math.max(0, ...task.lines.map((line) => line.end_ms));
  const totalMs = task.durationSeconds === null ? null : task.durationSeconds * 1000;
  if ((totalMs ?? endMs) > MAX_TRACK_MS) {
    throw new JobFailure(
      'DURATION_EXCEEDED',
      'the last subtitle ends after more than 4 hours; cut the subtitles into parts',
    );
  }
  const slots = planSlots(task.lines, totalMs ?? Number.POSITIVE_INFINITY);
  slots.forEach(requireSpeakable);
  const spoken = join(work.folder, 'dub-22k.wav');
  const track = await createWav(spoken, { sampleRate: ESPEAK_RATE, channels: 1 });
  const fits = await writeTrack(track, slots, { programs, voice, ...work }, work);
  await writeSilence(track, Math.round(((totalMs ?? endMs) / 1000) * ESPEAK_RATE));
  const durationSeconds = track.frames / ESPEAK_RATE;
  await track.close();
  const path = join(work.folder, 'dub.wav');
  const rate = ['-ar', String(STEM_FORMAT.sampleRate)];
  const output = ['-c:a', 'pcm_s16le', '-fflags', '+bitexact', '-f', 'wav', fileAddress(path)];
  await programs.run('ffmpeg', [...QUIET, ...ownInput(spoken, 'wav'), ...rate, ...output], work);
  return { path, durationSeconds, fits };
}

/** A text above the limit of one line means a very long cue, or a thousand cues that begin together. */
function requireSpeakable({ indexes, text }: SpokenText): void {
  if (text.length <= LIMITS.lineCharacters) return;
  const which =
    indexes.length === 1 ? `line ${indexes[0]}` : `the ${indexes.length} lines from ${indexes[0]} on`;
  const message = `${which} of the subtitles would have ${text.length} characters spoken at one time; the limit is ${LIMITS.lineCharacters}`;
  throw new JobFailure('SUBTITLE_INVALID', message);
}

/** Speaks as many slots concurrently as there are cores and writes them in order, so only those are in memory. */
async function writeTrack(
  track: WavWriter,
  slots: readonly SpokenText[],
  speaking: Speaking,
  work: Work,
): Promise<Fit[]> {
  const fits: Fit[] = [];
  const { parallel } = speaking.programs;
  for (let first = 0; first < slots.length; first += parallel) {
    const some = slots.slice(first, first + parallel);
    const tasks = some.map(
      (slot, at) => (signal: AbortSignal) => speakSlot({ ...speaking, signal }, slot, `clip-${at}`),
    );
    const spoken = await together(work.signal, tasks);
    for (const [at, { clip, fit }] of spoken.entries()) {
      await writeSilence(track, Math.round(((some[at]?.startMs ?? 0) / 1000) * ESPEAK_RATE));
      await track.write(clip.samples);
      fits.push(fit);
    }
    work.report(Math.min(1, (first + some.length) / slots.length));
  }
  return fits;
}

/** Fills the track with silence up to a frame. Does nothing if the track is already that long. */
async function writeSilence(track: WavWriter, until: number): Promise<void> {
  const silence = new Int16Array(SILENCE_BLOCK);
  while (track.frames < until)
    await track.write(silence.subarray(0, Math.min(SILENCE_BLOCK, until - track.frames)));
}
