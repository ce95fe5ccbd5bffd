/** Decides whether the picture can be copied, and how it is encoded if not. */
import { JobFailure } from '../../protocol/job-failure.ts';
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

/** Transfer functions of HDR pictures, as ffmpeg names them: HDR10 (PQ) and HLG. */
export type HdrTransfer = 'smpte2084' | 'arib-std-b67';

/** A picture that is encoded. */
export interface EncodedPicture {
  readonly copy: false;
  /** The size of the result. */
  readonly size: PictureSize;
  /** Null for standard dynamic range. */
  readonly hdr: HdrTransfer | null;
}

export type PicturePlan = { readonly copy: true } | EncodedPicture;

/**
 * Copies the picture if nothing in it changes and MP4 supports its codec; else encodes it.
 * @throws JobFailure MEDIA_UNSUPPORTED for a picture whose colours ffmpeg cannot decode
 */
export function planPicture(header: MediaHeader, resolution: Resolution, burned: boolean): PicturePlan {
  const { video } = header;
  const shown = video === null ? { width: 0, height: 0 } : displaySize(video);
  const size = scaledSize(shown, resolution);
  // Streams of AVI and MPEG lack the time stamps that an MP4 requires.
  const fits = header.demuxer.includes('mov') && MP4_CODECS.has(video?.codec_name ?? '');
  if (size === null && !burned && fits) return { copy: true };
  // Its base layer has colours of its own; profiles 7 and 8 have a base layer in HDR10 or HLG.
  if (video?.side_data_list.some(({ dv_profile }) => dv_profile === 5)) {
    const message =
      'the picture is in Dolby Vision profile 5, whose colours cannot be encoded again; convert it to HDR10 or SDR, or leave the picture as it is: without burned subtitles and with the resolution of the source';
    throw new JobFailure('MEDIA_UNSUPPORTED', message);
  }
  const downToEven = (side: number) => side - (side % 2);
  return {
    copy: false,
    size: size ?? { width: downToEven(shown.width), height: downToEven(shown.height) },
    hdr: hdrTransfer(video?.color_transfer),
  };
}

/** Returns the transfer function if it is one of HDR. */
export function hdrTransfer(transfer: string | undefined): HdrTransfer | null {
  return transfer === 'smpte2084' || transfer === 'arib-std-b67' ? transfer : null;
}

/**
 * Brightness of white text, 0 to 255: 203 cd/m² in HDR, because full white would dazzle. Source: ITU-R BT.2408, reference
 * white, 58 % of PQ and 75 % of HLG.
 */
export function whiteOf({ hdr }: EncodedPicture): number {
  return { none: 255, smpte2084: 148, 'arib-std-b67': 191 }[hdr ?? 'none'];
}

/** In pixels, with all aspect ratios of the name. */
const FULL_HD = 2_100_000;
const UHD = 9_000_000;

/**
 * Returns the most threads that fit into the memory of an encoder. Measured with ffmpeg 5.1 in MiB of address space: 4K with
 * 2 and 16 threads 1,499 and 3,999, 8K with 1 and 2 threads 3,633 and 4,378; 4K in HDR with 4 threads 2,846. More than 8
 * hardly make it faster.
 */
export function mostThreads({ size, hdr }: EncodedPicture): number {
  const pixels = size.width * size.height;
  if (pixels > UHD) return 1;
  return pixels > FULL_HD && hdr !== null ? 3 : 8;
}

/** Visually equal to the source, encoded several times faster than real time. */
const H264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '20', '-pix_fmt', 'yuv420p'];
/** HDR needs 10 bits, which players decode as HEVC only. `hvc1` is the tag that Apple's players recognize. */
const HEVC = ['-c:v', 'libx265', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p10le', '-tag:v', 'hvc1'];

/**
 * Returns the arguments of an encoder that keeps HDR and its labels.
 * @param quality CRF, as for H.264
 * @param options of x265
 */
export function hdrArguments(hdr: HdrTransfer, quality: number, options = ''): string[] {
  const colours = ['-color_primaries', 'bt2020', '-color_trc', hdr, '-colorspace', 'bt2020nc'];
  return [...HEVC, '-crf', String(quality), ...colours, '-x265-params', `log-level=error${options}`];
}

/**
 * Returns the arguments of the encoder. It keeps the range and the colours of the source and their labels.
 * @param mastering see `readMastering`
 */
export function encoderArguments({ hdr }: EncodedPicture, threads: number, mastering = ''): string[] {
  if (hdr === null) return [...H264, '-threads', String(threads)];
  // The pool is shared by frames, of which more than three at a time do not speed it up.
  return hdrArguments(hdr, 20, `:pools=${threads}:frame-threads=${Math.min(threads, 3)}${mastering}`);
}
