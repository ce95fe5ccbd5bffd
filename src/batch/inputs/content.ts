/** Detects the type of a file by its bytes: names may be wrong, and the purpose of an upload depends on the type. */
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { readHead } from '../../base/read-head.ts';
import { isCalledSound, SOUND_EXTENSIONS } from '../../base/sound-formats.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { LIMITS, VIDEO_EXTENSIONS } from '../../protocol/limits.ts';
import { decodeSrt, SubtitleError } from '../../protocol/srt.ts';
import type { UploadPurpose } from '../../protocol/states.ts';
import { bilingualLanguages } from './bilingual-name.ts';
import type { Candidate } from './candidate.ts';

export interface Content {
  readonly purpose: UploadPurpose;
  readonly contentType: string;
}

/** Display names of the containers: `MP4, MOV, …`. */
export const CONTAINERS = VIDEO_EXTENSIONS.map((each) => each.slice(1).toUpperCase()).join(', ');

/** Enough bytes for the signatures of all containers. */
const HEAD_BYTES = 16;

/** Brands of pictures and of sound without video. Source: ISO 23008-12; the registered brands of mp4ra.org. */
const OTHER_BRANDS = /^(heic|heix|heim|heis|hevc|hevx|mif1|msf1|avif|avis|crx |M4A |M4B |M4P )$/;

/** Boxes that a QuickTime file from before `ftyp` may begin with. */
const QUICKTIME_BOXES = ['moov', 'mdat', 'wide', 'free', 'skip'];

/**
 * The media type of a video by the first bytes of its container; null if the service does not accept it.
 * Source: ISO 14496-12 (boxes), RIFF, ISO 11172-1 (pack and sequence start codes).
 */
export function videoType(head: Buffer): string | null {
  const box = head.toString('latin1', 4, 8);
  if (box === 'ftyp') {
    const brand = head.toString('latin1', 8, 12);
    if (OTHER_BRANDS.test(brand)) return null;
    if (brand === 'qt  ') return 'video/quicktime';
    return brand.startsWith('M4V') ? 'video/x-m4v' : 'video/mp4';
  }
  if (QUICKTIME_BOXES.includes(box)) return 'video/quicktime';
  if (head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'AVI ') {
    return 'video/x-msvideo';
  }
  const startCode = head.length >= 4 ? head.readUInt32BE(0) : 0;
  return startCode === 0x1ba || startCode === 0x1b3 ? 'video/mpeg' : null;
}

/** The media type for the upload of a file, or why it cannot be uploaded; never throws for its content. */
export async function readContent(path: string, bytes: number): Promise<Content | string> {
  const contentType = await readVideoType(path);
  if (contentType !== null) return { purpose: 'source_video', contentType };
  if (bytes >= LIMITS.subtitleBytes) return `neither a video (${CONTAINERS}) nor subtitles under 10 MiB`;
  try {
    decodeSrt(await readFile(path));
    return { purpose: 'subtitle_file', contentType: 'application/x-subrip' };
  } catch (error) {
    if (error instanceof SubtitleError) return `neither a video (${CONTAINERS}) nor SRT: ${error.message}`;
    throw error;
  }
}

/** The media type of a video file by its content; null if it is not one of the six containers. */
export async function readVideoType(path: string): Promise<string | null> {
  return videoType(await readHead(path, HEAD_BYTES));
}

/** Display names of formats of sound. */
export const SOUNDS = 'MP3, M4A, WAV, FLAC, Ogg, Opus';

/**
 * Whether the file begins as sound without a picture, in a container that no video has. Source: ID3v2; ISO 11172-3 and 13818-7 (frames
 * begin with eleven or twelve bits that are set); RIFF; RFC 9639; ISO 14496-12.
 */
function looksLikeSound(head: Buffer): boolean {
  const text = (from: number, to: number) => head.toString('latin1', from, to);
  if (text(0, 3) === 'ID3' || text(0, 4) === 'fLaC') return true;
  if (/^(RIFF|RF64)$/.test(text(0, 4)) && text(8, 12) === 'WAVE') return true;
  if (text(4, 8) === 'ftyp' && /^M4[AB] $/.test(text(8, 12))) return true;
  const frame = head.length < 2 ? 0 : head.readUInt16BE(0);
  // A layer and a version that exist; ADTS has layer 0.
  const hasSync = frame >> 5 === 0x7ff && ((frame >> 3) & 3) !== 1;
  return hasSync && (((frame >> 1) & 3) !== 0 || frame >> 4 === 0xfff);
}

/** Display names of the containers. */
export const CONVERTIBLE = 'MKV, WebM, TS, FLV, WMV, OGV';

/**
 * Extensions of such files. Transport streams share two, .ts and .mts, with TypeScript, so these are recognized by content
 * only.
 */
const CONVERTIBLE_EXTENSIONS = ['.mkv', '.webm', '.m2ts', '.flv', '.wmv', '.ogv'] as const;

/** Signatures at the beginning. Source: EBML (RFC 8794), Adobe FLV 10.1, Microsoft ASF, Ogg (RFC 3533). */
const SIGNATURES = ['1a45dfa3', '464c5601', '3026b2758e66cf11', '4f676753'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

const SYNC_BYTE = 0x47;
/** Bytes of a packet of a transport stream; recorders put a time of four bytes before each. Source: ISO 13818-1. */
const PACKETS = [
  { length: 188, first: 0 },
  { length: 192, first: 4 },
];
/** Many files contain one such byte by chance, hardly any contain four at these distances. */
const PACKETS_SEEN = 4;

const CONVERTIBLE_HEAD_BYTES = 4 + 192 * PACKETS_SEEN;

function looksConvertible(head: Buffer): boolean {
  if (SIGNATURES.some((signature) => head.subarray(0, signature.length).equals(signature))) return true;
  return PACKETS.some(({ length, first }) =>
    Array.from({ length: PACKETS_SEEN }, (_, packet) => head[first + packet * length]).every(
      (byte) => byte === SYNC_BYTE,
    ),
  );
}

/** Whether the file begins as a video that can be converted, or as sound, whatever its name. */
export async function isConvertible(path: string): Promise<boolean> {
  const head = await readHead(path, CONVERTIBLE_HEAD_BYTES);
  return looksConvertible(head) || looksLikeSound(head);
}

/** As many as fit on a line; the rest are counted. */
const MOST_NAMES = 3;

const EXTENSIONS = {
  video: {
    all: [...VIDEO_EXTENSIONS, ...CONVERTIBLE_EXTENSIONS, ...SOUND_EXTENSIONS],
    one: 'a supported video',
    several: 'supported videos',
  },
  subtitle: { all: ['.srt', '.vtt', '.ass', '.ssa'], one: 'a subtitle file', several: 'subtitle files' },
} as const;

/** Whether a file has the extension of an input of the kind: an unusable one then fails instead of being skipped. */
export function isCalledLikeInput(kind: JobKind, name: string): boolean {
  const endings: readonly string[] = EXTENSIONS[KINDS[kind].input].all;
  return endings.includes(extname(name).toLowerCase()) && bilingualLanguages(name) === null;
}

/** Whether a file is called like a video, and not like sound. */
export function isCalledVideo(name: string): boolean {
  return isCalledLikeInput('auto_localization', name) && !isCalledSound(name);
}

/** Sentences for the user. @param others files that are not inputs, neither by content nor by name */
export function describeSkipped(
  kind: JobKind,
  others: readonly Pick<Candidate, 'label'>[],
  resultCount: number,
): readonly string[] {
  const notes: string[] = [];
  const { one, several } = EXTENSIONS[KINDS[kind].input];
  const isBilingual = ({ label }: Pick<Candidate, 'label'>) => bilingualLanguages(label) !== null;
  const both = others.filter(isBilingual);
  const rest = others.filter((each) => !isBilingual(each));
  if (rest.length > 0) {
    const what =
      rest.length === 1 ? `1 file that is not ${one}` : `${rest.length} files that are not ${several}`;
    notes.push(`Skipped ${what}: ${nameSome(rest)}`);
  }
  if (both.length > 0) notes.push(`Skipped ${countFiles(both.length)} in two languages: ${nameSome(both)}`);
  if (resultCount > 0) notes.push(`Skipped ${countFiles(resultCount)} that this command wrote before.`);
  return notes;
}

function nameSome(files: readonly Pick<Candidate, 'label'>[]): string {
  const names = files.slice(0, MOST_NAMES).map(({ label }) => label);
  return names.join(', ') + (files.length > names.length ? ', …' : '');
}

export function countFiles(count: number): string {
  return count === 1 ? '1 file' : `${count} files`;
}
