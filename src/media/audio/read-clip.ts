/** Reads what speakers return: WAV of any kind directly, all other formats with ffmpeg. */
import { randomUUID } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JobFailure } from '../../protocol/job-failure.ts';
import { DECODER_LIMITS, fileAddress, QUIET } from '../programs/arguments.ts';
import { ChildFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { Clip, EngineRun } from '../work.ts';
import { clipSeconds, trimSilence } from './clip.ts';

/** Six minutes at 48 kHz in stereo and 32 bits: as long as the longest text of a cue lasts. */
export const MAX_SPEECH_BYTES = 128 * 1024 * 1024;
/** What ffmpeg decodes to: no voice has a higher rate. */
const DECODED_RATE = 48_000;
/** What a speaker may reasonably return. Playlists and scripts, which open other files, are not among them. */
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
class UnreadableSound extends Error {}

/**
 * Decodes sound to mono. A WAV may have a header that declares no length or the greatest one, as programs write to a
 * pipe.
 * @throws UnreadableSound, ProgramMissing, or the signal's reason
 */
export async function readClip(bytes: Buffer, programs: Programs, run: EngineRun): Promise<Clip> {
  if (bytes.length === 0) throw new UnreadableSound('nothing');
  return parseAnyWav(bytes) ?? (await decode(bytes, programs, run));
}

interface Layout {
  readonly isFloat: boolean;
  readonly bits: number;
  readonly channels: number;
  readonly sampleRate: number;
}

/** Returns null if it is not a WAV of plain samples. */
function parseAnyWav(bytes: Buffer): Clip | null {
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WAVE') return null;
  let layout: Layout | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const body = at + 8;
    if (name === 'fmt ' && body + 16 <= bytes.length) layout = readLayout(bytes.subarray(body, body + size));
    if (name === 'data') return layout === null ? null : readSamples(bytes.subarray(body), size, layout);
    at = body + size + (size % 2); // chunks begin at even offsets
  }
  return null;
}

const PCM = 1;
const FLOAT = 3;
/** The real format follows at offset 24. */
const EXTENSIBLE = 0xfffe;

function readLayout(chunk: Buffer): Layout | null {
  if (chunk.length < 16) return null;
  const tag = chunk.readUInt16LE(0);
  const format = tag === EXTENSIBLE && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag;
  const channels = chunk.readUInt16LE(2);
  const sampleRate = chunk.readUInt32LE(4);
  const bits = chunk.readUInt16LE(14);
  const isKnown =
    format === PCM ? [8, 16, 24, 32].includes(bits) : format === FLOAT && [32, 64].includes(bits);
  // Rates of telephones to those of studios.
  const isSane = channels >= 1 && channels <= 32 && sampleRate >= 4_000 && sampleRate <= 384_000;
  return isKnown && isSane ? { isFloat: format === FLOAT, bits, channels, sampleRate } : null;
}

function readSamples(rest: Buffer, declared: number, layout: Layout): Clip {
  // A program that writes to a pipe knows no length.
  const data = declared === 0 ? rest : rest.subarray(0, declared);
  const bytesPerSample = layout.bits / 8;
  const frames = Math.floor(data.length / (bytesPerSample * layout.channels));
  const read = sampleReader(data, layout);
  const samples = new Int16Array(frames);
  for (let frame = 0; frame < frames; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < layout.channels; channel += 1) {
      sum += read((frame * layout.channels + channel) * bytesPerSample);
    }
    samples[frame] = toInt16(sum / layout.channels);
  }
  return { samples, sampleRate: layout.sampleRate };
}

const FULL_SCALE = 32_768;

/** Limits to full scale. Not a number is silence. */
function toInt16(value: number): number {
  return Math.max(-FULL_SCALE, Math.min(FULL_SCALE - 1, Math.round(value))) || 0;
}

/** Returns a function from an offset to a sample, where full scale is 32,768. */
function sampleReader(data: Buffer, { isFloat, bits }: Layout): (at: number) => number {
  if (isFloat && bits === 64) return (at) => data.readDoubleLE(at) * FULL_SCALE;
  if (isFloat) return (at) => data.readFloatLE(at) * FULL_SCALE;
  if (bits === 8) return (at) => (data.readUInt8(at) - 128) * 256; // the only unsigned format
  if (bits === 16) return (at) => data.readInt16LE(at);
  if (bits === 24) return (at) => data.readIntLE(at, 3) / 256;
  return (at) => data.readInt32LE(at) / 65_536;
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
    const clip = parseAnyWav(await programs.run('ffmpeg', args, options));
    if (clip !== null && clip.samples.length > 0) return clip;
    throw new UnreadableSound('a sound without samples');
  } catch (error) {
    if (error instanceof ChildFailure) throw new UnreadableSound('what is not a sound that can be read');
    throw error;
  } finally {
    await rm(path, { force: true });
  }
}
