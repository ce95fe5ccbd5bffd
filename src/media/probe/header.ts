/** Reads the header of a video. Its contents are untrusted, because anyone can write anything into it. */
import * as v from 'valibot';
import { JobFailure } from '../../protocol/job-failure.ts';
import { untrustedInput } from '../programs/arguments.ts';
import { ChildFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';

/** 1 GiB and 10 s of CPU time are a hundred times what a valid header needs. */
export const PROBE_LIMITS = { memoryBytes: 1024 ** 3, cpuSeconds: 10 } as const;

/** A larger header has thousands of streams. */
export const HEADER_BYTES = 1024 * 1024;

const ENTRIES = [
  'format=format_name,duration',
  'format_tags=major_brand',
  'stream=index,codec_type,codec_name,width,height,avg_frame_rate,r_frame_rate,sample_rate,channels,duration',
  'stream=color_transfer,channel_layout,pix_fmt,sample_aspect_ratio,has_b_frames',
  'stream_disposition=attached_pic',
  'stream_side_data=rotation,dv_profile',
].join(':');

/** A stream in the output of ffprobe. Members are missing if the header does not contain them. */
export const HeaderStreamSchema = v.object({
  index: v.number(),
  codec_type: v.optional(v.string()),
  codec_name: v.optional(v.string(), 'unknown'),
  width: v.optional(v.number(), 0),
  height: v.optional(v.number(), 0),
  avg_frame_rate: v.optional(v.string(), '0/0'),
  r_frame_rate: v.optional(v.string(), '0/0'),
  sample_rate: v.optional(v.string(), '0'),
  channels: v.optional(v.number(), 0),
  channel_layout: v.optional(v.string(), 'unknown'),
  color_transfer: v.optional(v.string(), 'unknown'),
  pix_fmt: v.optional(v.string(), 'unknown'),
  sample_aspect_ratio: v.optional(v.string(), '1:1'),
  has_b_frames: v.optional(v.number(), 0),
  duration: v.optional(v.string()),
  disposition: v.optional(v.object({ attached_pic: v.optional(v.number(), 0) })),
  side_data_list: v.optional(
    v.array(v.object({ rotation: v.optional(v.number()), dv_profile: v.optional(v.number()) })),
    [],
  ),
});

const HeaderSchema = v.object({
  format: v.object({
    format_name: v.string(),
    duration: v.optional(v.string()),
    tags: v.optional(v.object({ major_brand: v.optional(v.string(), '') })),
  }),
  streams: v.array(HeaderStreamSchema),
});

type HeaderStream = v.InferOutput<typeof HeaderStreamSchema>;

export interface MediaHeader {
  /** The name of ffmpeg's demuxer, such as `mov,mp4,m4a,3gp,3g2,mj2`. */
  readonly demuxer: string;
  /** Four-letter brand of an MP4 or MOV, such as `qt `; empty for other containers. */
  readonly brand: string;
  /** Duration that the container declares, in seconds; null if it declares none. */
  readonly duration: number | null;
  /** The first video stream. Cover images are skipped. */
  readonly video: HeaderStream | null;
  readonly audio: HeaderStream | null;
  /** Indexes of the cover images. */
  readonly covers: readonly number[];
}

/**
 * Reads the header of an untrusted file.
 * @throws JobFailure MEDIA_UNSUPPORTED if the file has none of the six containers, MEDIA_CORRUPT if it is damaged
 */
export async function readHeader(
  programs: Programs,
  file: string,
  run: { signal: AbortSignal; folder: string },
): Promise<MediaHeader> {
  const args = ['-v', 'error', '-show_entries', ENTRIES, '-of', 'json', ...untrustedInput(file)];
  const stdout = await programs
    .run('ffprobe', args, { ...run, limits: PROBE_LIMITS, maxStdoutBytes: HEADER_BYTES })
    .catch((error: unknown) => {
      throw error instanceof ChildFailure ? headerFailure(error) : error;
    });
  return parseHeader(stdout.toString('utf8'));
}

/** Parses the JSON of ffprobe. Exported for tests with hostile output. */
export function parseHeader(json: string): MediaHeader {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), HeaderSchema), json);
  if (!parsed.success) throw new JobFailure('MEDIA_CORRUPT', 'the header of the video cannot be read');
  const { format, streams } = parsed.output;
  const isPicture = (stream: HeaderStream) =>
    stream.codec_type === 'video' && stream.disposition?.attached_pic !== 1;
  return {
    demuxer: format.format_name,
    brand: format.tags?.major_brand ?? '',
    duration: seconds(format.duration),
    video: streams.find(isPicture) ?? null,
    audio: streams.find((stream) => stream.codec_type === 'audio') ?? null,
    covers: streams
      .filter((stream) => stream.codec_type === 'video' && !isPicture(stream))
      .map(({ index }) => index),
  };
}

/** Returns a finite number of seconds, or null. */
export function seconds(text: string | undefined): number | null {
  const value = Number.parseFloat(text ?? '');
  return Number.isFinite(value) ? value : null;
}

function headerFailure(error: ChildFailure): JobFailure {
  if (error.lastWords.includes('moov atom not found')) {
    const message = 'the video has no index: the recording or its copy was cut off; export it again';
    return new JobFailure('MEDIA_CORRUPT', message, { cause: error });
  }
  const message =
    'the file is not a video in one of the formats MP4, MOV, AVI, MPEG, MPG or M4V; convert it to MP4';
  return new JobFailure('MEDIA_UNSUPPORTED', message, { cause: error });
}
