/** Encoder settings of ffmpeg, for pictures and sound. */
import type { HdrTransfer } from '../probe/facts.ts';

/** How exact the colours of a picture are. */
interface PictureDepth {
  /** Null for standard dynamic range. */
  readonly hdr: HdrTransfer | null;
  /** More than 8 bits for each colour. */
  readonly isDeep: boolean;
}

/** CRF of results: visually equal to the source, encoded several times faster than real time on two cores. */
const RESULT_QUALITY = 20;
/** CRF of videos that are encoded again later: better than the result. */
const PREPARED_QUALITY = 18;

/** Returns the arguments of the encoder of H.264. */
function h264(quality: number): string[] {
  return ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', String(quality), '-pix_fmt', 'yuv420p'];
}

/** For more than 8 bits, as in HDR, which players decode as HEVC only. `hvc1` is the tag that Apple's players recognize. */
const HEVC = ['-c:v', 'libx265', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p10le', '-tag:v:0', 'hvc1'];

/** Returns the arguments of an encoder that keeps 10 bits, and HDR and its labels. @param options of x265 */
function hevc(hdr: HdrTransfer | null, quality: number, options = ''): string[] {
  const colours =
    hdr === null ? [] : ['-color_primaries', 'bt2020', '-color_trc', hdr, '-colorspace', 'bt2020nc'];
  return [...HEVC, '-crf', String(quality), ...colours, '-x265-params', `log-level=error${options}`];
}

/**
 * Returns the arguments of the encoder of a video that the service works on.
 * @param picture of the source, whose dynamic range and depth are kept
 */
export function encodePicture(picture: PictureDepth | null): string[] {
  const { hdr, isDeep } = picture ?? { hdr: null, isDeep: false };
  return hdr === null && !isDeep ? h264(PREPARED_QUALITY) : hevc(hdr, PREPARED_QUALITY);
}

/**
 * Returns the arguments of the encoder of a result. It keeps the range and the colours of the source and their labels.
 * @param mastering options of x265, see `readMastering`
 */
export function encoderArguments({ hdr, isDeep }: PictureDepth, threads: number, mastering = ''): string[] {
  if (hdr === null && !isDeep) return [...h264(RESULT_QUALITY), '-threads', String(threads)];
  // The pool is shared by frames, of which more than three at a time do not speed it up.
  const pool = `:pools=${threads}:frame-threads=${Math.min(threads, 3)}`;
  return hevc(hdr, RESULT_QUALITY, `${pool}${mastering}`);
}

/**
 * Makes one progressive frame of the two fields of an interlaced one: players show MP4 without doing so. Before that, each
 * field gets the colours of 4:2:0 by itself: in 4:2:2 that was made of 4:2:0, the rows of colour alternate in pairs, which a
 * deinterlacer takes for one field.
 */
export const DEINTERLACE =
  'scale=interl=-1,format=yuv420p|yuv420p10le,bwdif=mode=send_frame:deint=interlaced';

/** Keeps each frame at its time: without them, a variable frame rate would become constant. */
export const SAME_TIMES = ['-vsync', 'vfr', '-enc_time_base', '-1'] as const;

/** Apple's players recognize HEVC only by this tag. */
export function copyPicture(codec: string): string[] {
  return ['-c:v', 'copy', ...(codec === 'hevc' ? ['-tag:v:0', 'hvc1'] : [])];
}

/** Copies the cover images, which follow the picture. @param input index of ffmpeg's input that has them */
export function coverArguments({ covers }: { readonly covers: readonly number[] }, input = 0): string[] {
  return covers.flatMap((index, place) => {
    const stream = `v:${place + 1}`;
    return ['-map', `${input}:${index}`, `-c:${stream}`, 'copy', `-disposition:${stream}`, 'attached_pic'];
  });
}

/** Keeps the tags of a file. Without being told, ffmpeg drops the date. @param input index of ffmpeg's input that has them */
export function keepTags(input = 0): string[] {
  return ['-map_metadata', String(input)];
}

/** The sample rate of all intermediate sound: the same as in videos and in the stems of the service. */
export const SAMPLE_RATE = 48_000;

/** Keeps sound in sync with the picture: fills a late start and gaps with silence. */
export const ON_TIME = `aresample=${SAMPLE_RATE}:async=1:first_pts=0`;

/** Transparent quality for stereo. More than two channels are mixed down, because only speech matters. */
export function aacArguments(channels: number): string[] {
  return ['-c:a', 'aac', '-b:a', '256k', '-ar', String(SAMPLE_RATE), '-ac', String(stereoAtMost(channels))];
}

export function stereoAtMost(channels: number): number {
  return Math.max(1, Math.min(2, channels));
}

/** PCM samples in a WAV file without tags. */
export const PCM = ['-c:a', 'pcm_s16le', '-map_metadata', '-1', '-fflags', '+bitexact', '-f', 'wav'] as const;

/** Audio codecs that players support in MP4. Others are encoded as AAC. */
export const MP4_SOUND: ReadonlySet<string> = new Set(['aac', 'mp3', 'ac3', 'eac3', 'alac', 'opus']);
