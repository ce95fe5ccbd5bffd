/** Reads the sound that speakers return. */
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JobFailure } from '../../protocol/job-failure.ts';
import { DECODER_LIMITS, fileAddress, QUIET } from '../programs/arguments.ts';
import { ChildFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { Clip, EngineRun } from '../work.ts';
import { clipSeconds, parseClip, trimSilence } from './clip.ts';

/** Six minutes at 48 kHz in stereo and 32 bits: as long as the longest text of a cue lasts. */
export const MAX_SPEECH_BYTES = 128 * 1024 * 1024;
/** Sample rate after ffmpeg: no voice has a higher rate. */
const DECODED_RATE = 48_000;
/** Formats of speech. Playlists and scripts, which open other files, are not among them. */
const DEMUXERS = 'wav,w64,rf64,mp3,flac,ogg,aac,mov,matroska,aiff,au,caf,amr';

/** The speech of a text without words, for which speakers return silence or an error. */
export const NOTHING_SAID: Clip = { samples: new Int16Array(0), sampleRate: DECODED_RATE };

/**
 * Decodes the answer of a speaker to a text: mono, without silence at both ends.
 * @param backend its name, for messages
 * @throws JobFailure ENGINE_ERROR for what is no sound, for silence, and for sound much too long for the text
 */
export async function readSpeech(
  bytes: Buffer,
  { backend, text }: { backend: string; text: string },
  programs: Programs,
  run: EngineRun,
): Promise<Clip> {
  let clip: Clip;
  try {
    clip = await readClip(bytes, programs, run);
  } catch (error) {
    if (run.signal.aborted || !(error instanceof UnreadableSound)) throw error;
    throw new JobFailure('ENGINE_ERROR', `${backend} returned ${error.message}`, { cause: error });
  }
  return checkSpeech(clip, { backend, text });
}

/** Removes silence at both ends of a spoken text. @throws JobFailure ENGINE_ERROR for silence, and for far too long sound */
export function checkSpeech(clip: Clip, { backend, text }: { backend: string; text: string }): Clip {
  const trimmed = trimSilence(clip);
  const shown = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  if (trimmed.samples.length === 0) {
    throw new JobFailure('ENGINE_ERROR', `${backend} returned silence for "${shown}"`);
  }
  const seconds = clipSeconds(clip);
  if (seconds > longestSeconds(text)) {
    const message = `${backend} returned ${Math.round(seconds)} s of sound for "${shown}"; check its model and voice`;
    throw new JobFailure('ENGINE_ERROR', message);
  }
  return trimmed;
}

/** A slow reader speaks 10 letters a second, or 3 characters of a script that writes syllables or words. */
const LETTERS = 10;
const SYLLABLES = 3;

/** A sound longer than ten times a slow reader and a minute is no reading of the text. */
function longestSeconds(text: string): number {
  const dense = text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{N}]/gu);
  const expected = text.length / LETTERS + (dense?.length ?? 0) / SYLLABLES;
  return 10 * expected + 60;
}

/** Bytes that are not a sound. The message completes a sentence such as "The server returned …". */
export class UnreadableSound extends Error {}

/**
 * Reads sound as mono: 16-bit PCM directly, and anything else with ffmpeg.
 * @throws UnreadableSound, ProgramMissing, or the signal's reason
 */
export async function readClip(bytes: Buffer, programs: Programs, run: EngineRun): Promise<Clip> {
  if (bytes.length === 0) throw new UnreadableSound('nothing');
  try {
    return parseClip(bytes);
  } catch {
    return await decode(bytes, programs, run);
  }
}

async function decode(bytes: Buffer, programs: Programs, run: EngineRun): Promise<Clip> {
  const path = join(run.folder, `${randomUUID()}.sound`);
  await writeFile(path, bytes);
  const args = [
    ...QUIET,
    ...['-protocol_whitelist', 'file', '-format_whitelist', DEMUXERS, '-i', fileAddress(path)],
    ...['-map', '0:a:0', '-ac', '1', '-ar', String(DECODED_RATE), '-c:a', 'pcm_s16le', '-f', 'wav', 'pipe:1'],
  ];
  try {
    const options = { ...run, limits: DECODER_LIMITS, maxStdoutBytes: MAX_SPEECH_BYTES };
    const clip = parseClip(await programs.run('ffmpeg', args, options));
    if (clip.samples.length > 0) return clip;
    throw new UnreadableSound('a sound without samples');
  } catch (error) {
    if (error instanceof ChildFailure) throw new UnreadableSound('what is not a sound that can be read');
    throw error;
  } finally {
    await rm(path, { force: true });
  }
}
