/** What a file is, by its bytes: names lie, and the purpose of an upload depends on it. */
import { readFile } from 'node:fs/promises';
import { readHead } from '../../disk/read-head.ts';
import { LIMITS, VIDEO_EXTENSIONS } from '../../protocol/limits.ts';
import { decodeSrt, SubtitleError } from '../../protocol/srt.ts';
import type { UploadPurpose } from '../../protocol/states.ts';

export interface Content {
  readonly purpose: UploadPurpose;
  readonly contentType: string;
}

/** The containers as people know them: `MP4, MOV, …`. */
export const CONTAINERS = VIDEO_EXTENSIONS.map((each) => each.slice(1).toUpperCase()).join(', ');

/** Enough for the marks of all containers. */
const HEAD_BYTES = 16;

/** Files of that form that are pictures or sound alone. Source: ISO 23008-12; the registered brands of mp4ra.org. */
const OTHER_BRANDS = /^(heic|heix|heim|heis|hevc|hevx|mif1|msf1|avif|avis|crx |M4A |M4B |M4P )$/;

/** Boxes that a QuickTime file from before `ftyp` may begin with. */
const QUICKTIME_BOXES = ['moov', 'mdat', 'wide', 'free', 'skip'];

/**
 * The media type of a video by the first bytes of its container, or null for what is none of those that the service
 * takes. Source: ISO 14496-12 (boxes), RIFF, ISO 11172-1 (pack and sequence start codes).
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

/** What the file can be uploaded as, or why it cannot; never throws for what its content is to blame for. */
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

/** The media type of a video file by its content, null for what is none of the six containers. */
export async function readVideoType(path: string): Promise<string | null> {
  return videoType(await readHead(path, HEAD_BYTES));
}
