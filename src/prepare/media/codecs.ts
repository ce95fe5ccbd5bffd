/** Encoder settings for videos that the service works on: better quality than the final result. */
import { type HdrTransfer, hdrArguments } from '../../engines/export/picture.ts';

/** Visually equal to the source, encoded several times faster than real time on two cores. */
const H264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '18', '-pix_fmt', 'yuv420p'] as const;

/** Returns the arguments of the encoder. @param hdr of the source, which is kept */
export function encodePicture(hdr: HdrTransfer | null): readonly string[] {
  return hdr === null ? H264 : hdrArguments(hdr, 18);
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
  return ['-c:v', 'copy', ...(codec === 'hevc' ? ['-tag:v', 'hvc1'] : [])];
}
