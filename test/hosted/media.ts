/**
 * Small results in the formats that the specification promises. Each contains the mark of its job, so that no two are alike,
 * and is a file that ffmpeg reads: a video is the one that was sent, with the mark in an additional box at its end.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentWav } from '../support/wav.ts';

/** The files of each kind of job, by the path of its collection. */
export const ASSETS: Readonly<Record<string, { object: string; names: readonly string[] }>> = {
  'audio-separations': { object: 'audio_separation', names: ['vocal_audio', 'background_audio'] },
  'subtitle-recognitions': { object: 'subtitle_recognition', names: ['subtitle'] },
  'subtitle-translations': { object: 'subtitle_translation', names: ['subtitle'] },
  dubbings: { object: 'dubbing', names: ['audio'] },
  'auto-localizations': { object: 'auto_localization', names: ['video'] },
};

export interface Line {
  readonly index: number;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly text: string;
}

/** What a job was given: a video, or lines. */
export interface Given {
  readonly bytes: Buffer;
  readonly lines: readonly Line[];
}

/** A job, as far as its result depends on it. */
interface Worked {
  /** Path of its collection. */
  readonly path: string;
  readonly given: Given;
  readonly language: string;
  readonly mark: string;
}

type Translate = (text: string, language: string) => string;

export interface ResultFile {
  readonly bytes: Buffer;
  readonly type: string;
}

const SAMPLE = join(import.meta.dirname, '..', 'fixtures', 'sample.mp4');

/** A number of the format: big-endian, four bytes. */
function longOf(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export const isMp4 = (bytes: Buffer) => bytes.toString('latin1', 4, 8) === 'ftyp';

/** The video with an additional box at its end that players skip; the sample if it is not an MP4. */
function markVideo(video: Buffer, mark: string): Buffer {
  const base = isMp4(video) ? video : readFileSync(SAMPLE);
  const content = Buffer.from(mark);
  return Buffer.concat([base, longOf(content.length + 8), Buffer.from('free'), content]);
}

/** What the movie header says; a second where there is none. Source: ISO 14496-12, `mvhd` of version 0. */
export function secondsOf(video: Buffer): number {
  const at = video.indexOf('mvhd');
  if (at < 0 || at + 24 > video.length) return 1;
  const seconds = video.readUInt32BE(at + 20) / video.readUInt32BE(at + 16);
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 1;
}

function timeCode(ms: number): string {
  const iso = new Date(ms).toISOString();
  return iso.slice(11, 23).replace('.', ',');
}

function srtOf(lines: readonly Line[]): Buffer {
  const cues = lines.map(
    ({ index, start_ms, end_ms, text }) =>
      `${index}\n${timeCode(start_ms)} --> ${timeCode(end_ms)}\n${text}\n`,
  );
  return Buffer.from(cues.join('\n'));
}

const CUE = /(\d+):(\d+):(\d+)[,.](\d+) --> (\d+):(\d+):(\d+)[,.](\d+)[^\n]*\n([\s\S]*?)(?:\n\s*\n|$)/g;

/** The lines of a subtitle file; enough for what tests send. */
export function readSrt(text: string): Line[] {
  return [...text.replaceAll('\r', '').matchAll(CUE)].map((match, at) => {
    const [h1 = 0, m1 = 0, s1 = 0, t1 = 0, h2 = 0, m2 = 0, s2 = 0, t2 = 0] = match.slice(1, 9).map(Number);
    return {
      index: at + 1,
      start_ms: ((h1 * 60 + m1) * 60 + s1) * 1000 + t1,
      end_ms: ((h2 * 60 + m2) * 60 + s2) * 1000 + t2,
      text: (match[9] ?? '').trim(),
    };
  });
}

/** The lines of a result: two that are recognized, or each that was given in the other language. */
export function linesOf({ path, given, language, mark }: Worked, translate: Translate): readonly Line[] {
  if (path === 'subtitle-translations') {
    return given.lines.map((line) => ({ ...line, text: translate(line.text, language) }));
  }
  if (path !== 'subtitle-recognitions') return [];
  const half = Math.floor((secondsOf(given.bytes) * 1000) / 2);
  return [
    { index: 1, start_ms: 0, end_ms: half - 50, text: 'good morning' },
    { index: 2, start_ms: half, end_ms: 2 * half - 50, text: `from ${mark.slice(0, 40)}` },
  ];
}

/** The files of a job's result, by their names in it. */
export function makeFiles(job: Worked, translate: Translate): Readonly<Record<string, ResultFile>> {
  const { path, given, mark } = job;
  const wav = (seconds: number, name: string) => ({
    bytes: silentWav(seconds, `${name} ${mark}`),
    type: 'audio/wav',
  });
  if (path === 'audio-separations') {
    const seconds = secondsOf(given.bytes);
    return { vocal_audio: wav(seconds, 'vocals'), background_audio: wav(seconds, 'background') };
  }
  if (path === 'dubbings') return { audio: wav((given.lines.at(-1)?.end_ms ?? 1000) / 1000, 'dub') };
  if (path === 'auto-localizations') {
    return { video: { bytes: markVideo(given.bytes, mark), type: 'video/mp4' } };
  }
  const lines = linesOf(job, translate);
  return { subtitle: { bytes: srtOf(lines), type: 'application/x-subrip' } };
}
