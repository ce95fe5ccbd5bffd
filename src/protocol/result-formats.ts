/** The file formats of results: name, content types, extension, and how to recognize their first bytes. */
import { beginsLikeSrt } from './srt.ts';

export interface ResultFormat {
  /** For messages. */
  readonly name: string;
  readonly contentType: string;
  /** Other content types that storage may send. */
  readonly otherTypes: readonly string[];
  /** Including the dot. */
  readonly extension: string;
  /** Returns whether a file may begin with these bytes: `HEAD_BYTES` of them, or the whole file. */
  readonly matches: (head: Uint8Array) => boolean;
}

/**
 * The number and the times of the first subtitle are within the first kilobytes; the signatures of the other formats
 * are at the very start.
 */
export const HEAD_BYTES = 4096;

export type ResultFormatName = 'mp4' | 'wav' | 'srt';

export const RESULT_FORMATS = {
  mp4: {
    name: 'MP4 video',
    contentType: 'video/mp4',
    otherTypes: ['application/mp4', 'video/x-m4v', 'video/quicktime'],
    extension: '.mp4',
    matches: (head) => textAt(head, 4, 8) === 'ftyp',
  },
  wav: {
    name: 'WAV file',
    contentType: 'audio/wav',
    otherTypes: ['audio/x-wav', 'audio/wave', 'audio/vnd.wave', 'audio/x-pn-wav'],
    extension: '.wav',
    // RF64 is the variant for files over 4 GiB.
    matches: (head) => ['RIFF', 'RF64'].includes(textAt(head, 0, 4)) && textAt(head, 8, 12) === 'WAVE',
  },
  srt: {
    name: 'SRT file',
    contentType: 'application/x-subrip',
    otherTypes: ['application/srt', 'application/x-srt', 'text/srt', 'text/x-srt', 'text/plain'],
    extension: '.srt',
    // The head may end in the middle of a character, which does not affect its start.
    matches: (head) => beginsLikeSrt(new TextDecoder().decode(head)),
  },
} as const satisfies Record<ResultFormatName, ResultFormat>;

function textAt(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}

/** Content types that say nothing about the bytes. */
const ANY_TYPES: ReadonlySet<string> = new Set(['application/octet-stream', 'binary/octet-stream']);

/** Returns whether a Content-Type allows the format: its own types, types for any bytes, or no type. */
export function allowsFormat(contentType: string | undefined, format: ResultFormat): boolean {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === '' || ANY_TYPES.has(type)) return true;
  return type === format.contentType || format.otherTypes.includes(type);
}
