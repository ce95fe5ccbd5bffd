/** Decides whether the picture can be copied, and its size if not. */
import type { Tasks } from '../engine.ts';
import type { MediaHeader } from '../media/header.ts';
import { displaySize } from '../media/inspect.ts';

export type Resolution = Tasks['auto_localization']['resolution'];

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Length of the short side for each named size. For portrait pictures this is the width, as on phones and platforms.
 */
const SHORT_SIDE: Record<Exclude<Resolution, 'source'>, number> = { '1080p': 1080, '720p': 720, '480p': 480 };

/** Codecs that players expect in an MP4. Others are encoded again. */
export const MP4_CODECS: ReadonlySet<string> = new Set(['h264', 'hevc', 'av1', 'vp9', 'mpeg4']);

/**
 * Returns the size to scale a picture to, with even sides for the encoder and never larger than the source; null if it
 * does not change.
 */
export function scaledSize(shown: PictureSize, resolution: Resolution): PictureSize | null {
  if (resolution === 'source') return null;
  const short = Math.min(shown.width, shown.height);
  const target = SHORT_SIDE[resolution];
  if (short <= target) return null;
  const even = (side: number) => 2 * Math.round((side * target) / short / 2);
  return { width: even(shown.width), height: even(shown.height) };
}

export type PicturePlan = { readonly copy: true } | { readonly copy: false; readonly size: PictureSize };

/** Copies the picture if nothing in it changes and MP4 supports its codec; else encodes it. */
export function planPicture(header: MediaHeader, resolution: Resolution, burned: boolean): PicturePlan {
  const { video } = header;
  const shown = video === null ? { width: 0, height: 0 } : displaySize(video);
  const size = scaledSize(shown, resolution);
  // Streams of AVI and MPEG lack the time stamps that an MP4 requires.
  const fits = header.demuxer.includes('mov') && MP4_CODECS.has(video?.codec_name ?? '');
  if (size === null && !burned && fits) return { copy: true };
  const downToEven = (side: number) => side - (side % 2);
  return {
    copy: false,
    size: size ?? { width: downToEven(shown.width), height: downToEven(shown.height) },
  };
}
