/** What is encoded here: for the service to work on, so better than what is shown in the end. */

/** As good as the source to the eye, at several times real time on two cores. */
export const H264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '18', '-pix_fmt', 'yuv420p'] as const;

/** The rate of all sound in between: that of video, and what the stems of the service have. */
export const SAMPLE_RATE = 48_000;

/** Sound on the time line of the file: what begins late or has holes is filled with silence, so that it stays beside the picture. */
export const ON_TIME = `aresample=${SAMPLE_RATE}:async=1:first_pts=0`;

/** Transparent for stereo; more than two channels are mixed down, since speech is what counts. */
export function aac(channels: number): string[] {
  return ['-c:a', 'aac', '-b:a', '256k', '-ar', String(SAMPLE_RATE), '-ac', String(stereoAtMost(channels))];
}

export function stereoAtMost(channels: number): number {
  return Math.max(1, Math.min(2, channels));
}

/** Samples as they are, in a file without tags. */
export const PCM = ['-c:a', 'pcm_s16le', '-map_metadata', '-1', '-fflags', '+bitexact', '-f', 'wav'] as const;

/** Players of Apple know HEVC by this tag alone. */
export function copyPicture(codec: string): string[] {
  return ['-c:v', 'copy', ...(codec === 'hevc' ? ['-tag:v', 'hvc1'] : [])];
}
