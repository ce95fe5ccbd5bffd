/** Decides whether the picture can be copied, and how it is encoded if not. */
import * as v from 'valibot';
import { JobFailure } from '../../protocol/job-failure.ts';
import {
  displaySize,
  type HdrTransfer,
  HEADER_BYTES,
  hdrTransfer,
  isDeepFormat,
  type MediaHeader,
  MP4_CODECS,
  pixelAspect,
} from '../probe/facts.ts';
import { DECODER_LIMITS, untrustedInput } from '../programs/arguments.ts';
import { ChildFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun, Resolution } from '../work.ts';

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/**
 * Length of the short side for each named size. For portrait pictures this is the width, as on phones and platforms.
 */
const SHORT_SIDE: Record<Exclude<Resolution, 'source'>, number> = { '1080p': 1080, '720p': 720, '480p': 480 };

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

/** A picture that is encoded. */
export interface EncodedPicture {
  readonly copy: false;
  /** The size of the result. */
  readonly size: PictureSize;
  /** Null for standard dynamic range. */
  readonly hdr: HdrTransfer | null;
  /** More than 8 bits for each colour. */
  readonly isDeep: boolean;
  /** Displayed width of a pixel divided by its height; not 1 for anamorphic pictures. */
  readonly pixelAspect: number;
}

export type PicturePlan =
  /** With the options of the input and of the output that copying needs. */
  | { readonly copy: true; readonly input: readonly string[]; readonly output: readonly string[] }
  | EncodedPicture;

/**
 * Copies the picture if nothing in it changes and MP4 supports its codec; else encodes it.
 * @throws JobFailure MEDIA_UNSUPPORTED for a picture whose colours ffmpeg cannot decode
 */
export function planPicture(header: MediaHeader, resolution: Resolution, burned: boolean): PicturePlan {
  const { video } = header;
  const shown = video === null ? { width: 0, height: 0 } : displaySize(video);
  const size = scaledSize(shown, resolution);
  const stored = { codec: video?.codec_name ?? '', isReordered: video?.has_b_frames !== 0 };
  const copying = size === null && !burned ? copyOptions(header.demuxer, stored) : null;
  if (copying !== null) return { copy: true, ...copying };
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
    isDeep: isDeepFormat(video?.pix_fmt),
    pixelAspect: video === null ? 1 : pixelAspect(video),
  };
}

/**
 * Returns the options with which ffmpeg copies a picture into an MP4; null if it cannot.
 * @param demuxer of ffmpeg
 * @param isReordered whether frames are stored in another order than they are shown in (B-frames)
 */
export function copyOptions(
  demuxer: string,
  { codec, isReordered }: { readonly codec: string; readonly isReordered: boolean },
): Record<'input' | 'output', readonly string[]> | null {
  if (!MP4_CODECS.has(codec)) return null;
  if (demuxer.includes('mov') || !isReordered) return { input: [], output: [] };
  // AVI stores no time of display. ffmpeg derives it for this codec, whose frames may share a packet (DivX); others would be
  // shown in the order in which they are stored.
  if (codec !== 'mpeg4') return null;
  return { input: ['-fflags', '+genpts'], output: ['-bsf:v:0', 'mpeg4_unpack_bframes'] };
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

const Fraction = v.pipe(
  v.string(),
  v.regex(/^\d{1,10}\/[1-9]\d{0,9}$/),
  v.transform((text) => {
    const [above = 0, below = 1] = text.split('/').map(Number);
    return above / below;
  }),
);
const Light = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535));

const DisplaySchema = v.object({
  ...{ red_x: Fraction, red_y: Fraction, green_x: Fraction, green_y: Fraction },
  ...{ blue_x: Fraction, blue_y: Fraction, white_point_x: Fraction, white_point_y: Fraction },
  ...{ min_luminance: Fraction, max_luminance: Fraction },
});
const LightSchema = v.object({ max_content: Light, max_average: Light });
const FramesSchema = v.object({
  frames: v.tuple([v.object({ side_data_list: v.optional(v.array(v.unknown()), []) })]),
});

/** Returns the options of x265 for the metadata of the first frame; empty if it has none, or cannot be decoded. */
export async function readMastering(programs: Programs, video: string, run: EngineRun): Promise<string> {
  const first = ['-select_streams', 'V:0', '-read_intervals', '%+#1', '-show_entries', 'frame_side_data'];
  const args = ['-v', 'error', ...first, '-of', 'json', ...untrustedInput(video, ['-threads', '1'])];
  try {
    const options = { ...run, limits: DECODER_LIMITS, maxStdoutBytes: HEADER_BYTES };
    return masteringOptions((await programs.run('ffprobe', args, options)).toString('utf8'));
  } catch (error) {
    // The picture is shown without them, only not as well on every display.
    if (error instanceof ChildFailure) return '';
    throw error;
  }
}

/** The same for the JSON of ffprobe. Metadata in another form is skipped. */
export function masteringOptions(json: string): string {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), FramesSchema), json);
  if (!parsed.success) return '';
  const options = parsed.output.frames[0].side_data_list.map((data) => {
    const display = v.safeParse(DisplaySchema, data);
    if (display.success) return displayOption(display.output);
    const light = v.safeParse(LightSchema, data);
    return light.success ? `:max-cll=${light.output.max_content},${light.output.max_average}` : '';
  });
  return options.join('');
}

/** Units of x265: 0.00002 for colours, 0.0001 cd/m² for brightness. */
function displayOption(display: v.InferOutput<typeof DisplaySchema>): string {
  const point = (x: number, y: number) => `(${Math.round(x * 50_000)},${Math.round(y * 50_000)})`;
  const green = point(display.green_x, display.green_y);
  const blue = point(display.blue_x, display.blue_y);
  const red = point(display.red_x, display.red_y);
  const white = point(display.white_point_x, display.white_point_y);
  const [most, least] = [display.max_luminance, display.min_luminance].map((value) =>
    Math.round(value * 10_000),
  );
  return `:master-display=G${green}B${blue}R${red}WP${white}L(${most},${least})`;
}
