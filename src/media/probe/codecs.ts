/** Encoder settings for videos that the service works on: better quality than the final result. */
import { deepArguments, type HdrTransfer } from '../export/picture.ts';

/** How exact the colours of a picture are. */
interface PictureDepth {
  /** Null for standard dynamic range. */
  readonly hdr: HdrTransfer | null;
  /** More than 8 bits for each colour. */
  readonly isDeep: boolean;
}

/** Visually equal to the source, encoded several times faster than real time on two cores. */
const H264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '18', '-pix_fmt', 'yuv420p'] as const;

/** Returns the arguments of the encoder. @param picture of the source, whose dynamic range and depth are kept */
export function encodePicture(picture: PictureDepth | null): readonly string[] {
  const { hdr, isDeep } = picture ?? { hdr: null, isDeep: false };
  return hdr === null && !isDeep ? H264 : deepArguments(hdr, 18);
}

/** The sample rate of all intermediate sound: the same as in videos and in the stems of the service. */
export const SAMPLE_RATE = 48_000;

/** Keeps sound in sync with the picture: fills a late start and gaps with silence. */
export const ON_TIME = `aresample=${SAMPLE_RATE}:async=1:first_pts=0`;

/** Transparent quality for stereo. More than two channels are mixed down, because only speech matters. */
export function aac(channels: number): string[] {
  return ['-c:a', 'aac', '-b:a', '256k', '-ar', String(SAMPLE_RATE), '-ac', String(stereoAtMost(channels))];
}

export function stereoAtMost(channels: number): number {
  return Math.max(1, Math.min(2, channels));
}

/** PCM samples in a WAV file without tags. */
export const PCM = ['-c:a', 'pcm_s16le', '-map_metadata', '-1', '-fflags', '+bitexact', '-f', 'wav'] as const;

/** Apple's players recognize HEVC only by this tag. */
export function copyPicture(codec: string): string[] {
  return ['-c:v', 'copy', ...(codec === 'hevc' ? ['-tag:v:0', 'hvc1'] : [])];
}
