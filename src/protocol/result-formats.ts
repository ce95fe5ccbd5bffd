/** The file formats of results: how each is named and labelled, and how its first bytes look. */
import { beginsLikeSrt } from './srt.ts';

export interface ResultFormat {
  /** For people. */
  readonly name: string;
  readonly contentType: string;
  /** What storage also calls it. */
  readonly otherTypes: readonly string[];
  /** With its dot. */
  readonly extension: string;
  /** Whether a file may begin with these bytes; so many of them as `HEAD_BYTES`, or the whole file. */
  readonly matches: (head: Uint8Array) => boolean;
}

/** The number and the times of the first subtitle are within the first kilobytes, and the marks of the others at once. */
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
    // RF64 is the form of files over 4 GiB.
    matches: (head) => ['RIFF', 'RF64'].includes(textAt(head, 0, 4)) && textAt(head, 8, 12) === 'WAVE',
  },
  srt: {
    name: 'SRT file',
    contentType: 'application/x-subrip',
    otherTypes: ['application/srt', 'application/x-srt', 'text/srt', 'text/x-srt', 'text/plain'],
    extension: '.srt',
    // Cut in the middle of a character, it still begins as it does.
    matches: (head) => beginsLikeSrt(new TextDecoder().decode(head)),
  },
} as const satisfies Record<ResultFormatName, ResultFormat>;

function textAt(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}

/** Types that say nothing about the bytes. */
const ANY_TYPES: ReadonlySet<string> = new Set(['application/octet-stream', 'binary/octet-stream']);

/** Whether a Content-Type allows the format: its own names, those for any bytes, and none at all. */
export function allowsFormat(contentType: string | undefined, format: ResultFormat): boolean {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === '' || ANY_TYPES.has(type)) return true;
  return type === format.contentType || format.otherTypes.includes(type);
}
