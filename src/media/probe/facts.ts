/** Facts about a media file: reads the header of any file, and counts the frames of files that vloc wrote. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import * as v from 'valibot';
import { type HdrTransfer, hdrTransfer, isDeepFormat } from '../export/picture.ts';
import { explaining, PreparationFailure } from '../failure.ts';
import { fileAddress, foreignInput, type ProgramRun } from '../programs/arguments.ts';
import { ChildFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import { type Fraction, parseFraction } from './fraction.ts';
import { HEADER_BYTES, HeaderStreamSchema, PROBE_LIMITS, seconds } from './header.ts';

export interface VideoFacts {
  /** File name without its folder. */
  readonly name: string;
  readonly bytes: number;
  /** The name of ffmpeg's demuxer, such as `matroska,webm`. */
  readonly demuxer: string;
  /** The longest duration that the container and its streams declare, in seconds; null if they declare none. */
  readonly durationSeconds: number | null;
  /** The first time stamp of the file, in seconds. */
  readonly startSeconds: number;
  /** The first video stream. Cover images are skipped. */
  readonly picture: PictureFacts | null;
  /** Indexes of the cover images that MP4 can hold. */
  readonly covers: readonly number[];
  /** In file order. */
  readonly tracks: readonly TrackFacts[];
  /** Subtitle tracks, text or bitmap. */
  readonly subtitles: readonly SubtitleTrackFacts[];
}

export interface SubtitleTrackFacts {
  readonly index: number;
  readonly codec: string;
  /** Three-letter code, as stored in containers. */
  readonly language: string | null;
}

interface PictureFacts {
  /** Index among all streams of the file. */
  readonly index: number;
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  readonly frameRate: Fraction | null;
  /** Null for standard dynamic range. */
  readonly hdr: HdrTransfer | null;
  /** More than 8 bits for each colour. */
  readonly isDeep: boolean;
  /** Frames are stored in another order than they are shown in (B-frames). */
  readonly isReordered: boolean;
  /** The mean rate and the time stamp rate differ. Only `readTimeline` detects whether the rate is constant. */
  readonly mayVary: boolean;
}

/** One audio track. The title is untrusted text. The language is a three-letter code. */
export interface TrackFacts {
  /** Counts from 1, like `--audio-track`. */
  readonly number: number;
  readonly index: number;
  readonly codec: string;
  readonly channels: number;
  readonly language: string | null;
  readonly title: string | null;
  readonly isDefault: boolean;
}

const ENTRIES = [
  'format=format_name,duration,start_time',
  'stream=index,codec_type,codec_name,width,height,avg_frame_rate,r_frame_rate,channels,duration',
  'stream=color_transfer,pix_fmt,has_b_frames',
  'stream_disposition=attached_pic,default',
  'stream_tags=language,title',
].join(':');

const StreamSchema = v.object({
  ...HeaderStreamSchema.entries,
  disposition: v.optional(
    v.object({ attached_pic: v.optional(v.number(), 0), default: v.optional(v.number(), 0) }),
  ),
  tags: v.optional(v.object({ language: v.optional(v.string()), title: v.optional(v.string()) })),
});
type Stream = v.InferOutput<typeof StreamSchema>;

const ProbeSchema = v.object({
  format: v.object({
    format_name: v.string(),
    duration: v.optional(v.string()),
    start_time: v.optional(v.string()),
  }),
  streams: v.array(StreamSchema),
});

/**
 * Reads the header of an untrusted file.
 * @throws PreparationFailure MEDIA_UNSUPPORTED if the file is not a video that can be read or converted, MEDIA_CORRUPT
 * if it is damaged
 */
export async function readFacts(programs: Programs, file: string, run: ProgramRun): Promise<VideoFacts> {
  const { size } = await stat(file);
  const args = ['-v', 'error', '-show_entries', ENTRIES, '-of', 'json', ...foreignInput(file)];
  const json = await explaining('the header cannot be read', () =>
    programs
      .run('ffprobe', args, { ...run, limits: PROBE_LIMITS, maxStdoutBytes: HEADER_BYTES })
      .catch((error: unknown) => {
        throw error instanceof ChildFailure ? headerFailure(error) : error;
      }),
  );
  return parseFacts(json.toString('utf8'), { name: basename(file), bytes: size });
}

/** Formats of cover images in MP4. */
const COVER_CODECS: ReadonlySet<string> = new Set(['mjpeg', 'png', 'bmp']);

/** Parses the JSON of ffprobe. */
function parseFacts(json: string, file: { name: string; bytes: number }): VideoFacts {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), ProbeSchema), json);
  if (!parsed.success) {
    const advice = 'export the video again';
    throw new PreparationFailure('MEDIA_CORRUPT', 'the header of the video cannot be read', advice);
  }
  const { format, streams } = parsed.output;
  const picture = streams.find(
    (stream) => stream.codec_type === 'video' && stream.disposition?.attached_pic !== 1,
  );
  const tracks = streams.filter((stream) => stream.codec_type === 'audio');
  return {
    ...file,
    demuxer: format.format_name,
    durationSeconds: longest([format, ...(picture === undefined ? [] : [picture]), ...tracks]),
    startSeconds: seconds(format.start_time) ?? 0,
    picture: picture === undefined ? null : describePicture(picture),
    covers: streams
      .filter(
        ({ disposition, codec_name }) => disposition?.attached_pic === 1 && COVER_CODECS.has(codec_name),
      )
      .map(({ index }) => index),
    tracks: tracks.map(describeTrack),
    subtitles: streams
      .filter((stream) => stream.codec_type === 'subtitle')
      .map(({ index, codec_name, tags }) => ({
        index,
        codec: codec_name,
        language: languageCode(tags?.language),
      })),
  };
}

/** Returns null if none of them declares a duration. */
function longest(declared: readonly { readonly duration?: string | undefined }[]): number | null {
  const all = declared.flatMap(({ duration }) => seconds(duration) ?? []).filter((value) => value > 0);
  return all.length === 0 ? null : Math.max(...all);
}

/** Muxers round mean rates: rates that differ by less than this share are equal. */
const SAME_RATE = 0.001;

function describePicture(stream: Stream): PictureFacts {
  const mean = parseFraction(stream.avg_frame_rate);
  const base = parseFraction(stream.r_frame_rate);
  const value = ({ num, den }: Fraction) => num / den;
  const differ = mean !== null && base !== null && Math.abs(value(mean) / value(base) - 1) > SAME_RATE;
  return {
    index: stream.index,
    codec: stream.codec_name,
    width: stream.width,
    height: stream.height,
    hdr: hdrTransfer(stream.color_transfer),
    isDeep: isDeepFormat(stream.pix_fmt),
    isReordered: stream.has_b_frames !== 0,
    frameRate: differ ? mean : (base ?? mean),
    mayVary: differ,
  };
}

function describeTrack(stream: Stream, position: number): TrackFacts {
  return {
    number: position + 1,
    index: stream.index,
    codec: stream.codec_name,
    channels: stream.channels,
    language: languageCode(stream.tags?.language),
    title: stream.tags?.title ?? null,
    isDefault: stream.disposition?.default === 1,
  };
}

function headerFailure(cause: ChildFailure): PreparationFailure {
  if (cause.lastWords.includes('moov atom not found')) {
    const message = 'the video has no index: the recording or its copy was cut off';
    return new PreparationFailure('MEDIA_CORRUPT', message, 'export or copy it again', { cause });
  }
  const message = 'the file is not a video that vloc can read';
  const advice =
    'give an MP4, MOV, AVI, MPEG or M4V, or an MKV, WebM, TS, FLV, WMV or OGV, which can be converted';
  return new PreparationFailure('MEDIA_UNSUPPORTED', message, advice, { cause });
}

/** Returns a three-letter code as stored in containers, or null. The language tag of a file is untrusted. */
function languageCode(tag: string | undefined): string | null {
  return tag !== undefined && /^[a-z]{3}$/.test(tag) && tag !== 'und' ? tag : null;
}

export interface PictureFrames {
  readonly frames: number;
  readonly codec: string;
  /** Equal for files whose pictures one decoder can play in sequence. */
  readonly parameters: string;
  readonly width: number;
  readonly height: number;
  readonly hdr: HdrTransfer | null;
  /** More than 8 bits for each colour. */
  readonly isDeep: boolean;
  /** Width of a pixel divided by its height, as a fraction of ffmpeg. */
  readonly pixelAspect: string;
}

const CountSchema = v.object({
  streams: v.tuple([
    v.object({
      codec_name: v.string(),
      width: v.number(),
      height: v.number(),
      nb_read_packets: v.pipe(v.string(), v.transform(Number)),
      extradata_hash: v.optional(v.string(), ''),
      pix_fmt: v.optional(v.string(), ''),
      time_base: v.string(),
      color_transfer: v.optional(v.string()),
      sample_aspect_ratio: v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d*:[1-9]\d*$/)), '1:1'),
    }),
  ]),
});

/** Counts the frames of an MP4 that vloc wrote. @throws if it has no picture */
export async function countFrames(programs: Programs, file: string, run: ProgramRun): Promise<PictureFrames> {
  const entries =
    'stream=codec_name,width,height,sample_aspect_ratio,pix_fmt,time_base,nb_read_packets,extradata_hash,color_transfer';
  const args = [
    ...['-v', 'error', '-protocol_whitelist', 'file', '-format_whitelist', 'mov'],
    ...['-select_streams', 'v:0', '-count_packets', '-show_data_hash', 'sha256', '-show_entries', entries],
    ...['-of', 'json', '-i', fileAddress(file)],
  ];
  const json = await programs.run('ffprobe', args, run);
  const [picture] = v.parse(v.pipe(v.string(), v.parseJson(), CountSchema), json.toString('utf8')).streams;
  const { codec_name, width, height, pix_fmt, time_base, extradata_hash } = picture;
  return {
    frames: picture.nb_read_packets,
    codec: codec_name,
    parameters: [codec_name, width, height, pix_fmt, time_base, extradata_hash].join(' '),
    width,
    height,
    hdr: hdrTransfer(picture.color_transfer),
    isDeep: isDeepFormat(pix_fmt),
    pixelAspect: picture.sample_aspect_ratio.replace(':', '/'),
  };
}
