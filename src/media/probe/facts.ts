/**
 * Facts about media files, as ffprobe reads them from the header, and the frames of files that vloc wrote. Headers are
 * untrusted, because anyone can write anything into them.
 */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import * as v from 'valibot';
import { JobFailure } from '../../protocol/job-failure.ts';
import { convertibleInput, fileAddress, untrustedInput } from '../programs/arguments.ts';
import { ChildFailure, explainFailures, PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';

/** 1 GiB and 10 s of CPU time are a hundred times what a valid header needs. */
export const PROBE_LIMITS = { memoryBytes: 1024 ** 3, cpuSeconds: 10 } as const;

/** A larger header has thousands of streams. */
export const HEADER_BYTES = 1024 * 1024;

const ENTRIES = [
  'format=format_name,duration,start_time',
  'format_tags=major_brand',
  'stream=index,codec_type,codec_name,width,height,avg_frame_rate,r_frame_rate,sample_rate,channels,duration',
  'stream=color_transfer,channel_layout,pix_fmt,sample_aspect_ratio,has_b_frames',
  'stream_disposition=attached_pic,default',
  'stream_side_data=rotation,dv_profile',
  'stream_tags=language,title',
].join(':');

/** A stream in the output of ffprobe. Members are missing if the header does not contain them. */
const StreamSchema = v.object({
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
  disposition: v.optional(
    v.object({ attached_pic: v.optional(v.number(), 0), default: v.optional(v.number(), 0) }),
  ),
  side_data_list: v.optional(
    v.array(v.object({ rotation: v.optional(v.number()), dv_profile: v.optional(v.number()) })),
    [],
  ),
  tags: v.optional(v.object({ language: v.optional(v.string()), title: v.optional(v.string()) })),
});
type Stream = v.InferOutput<typeof StreamSchema>;

const HeaderSchema = v.object({
  format: v.object({
    format_name: v.string(),
    duration: v.optional(v.string()),
    start_time: v.optional(v.string()),
    tags: v.optional(v.object({ major_brand: v.optional(v.string(), '') })),
  }),
  streams: v.array(StreamSchema),
});

export interface MediaHeader {
  /** The name of ffmpeg's demuxer, such as `mov,mp4,m4a,3gp,3g2,mj2`. */
  readonly demuxer: string;
  /** Four-letter brand of an MP4 or MOV, such as `qt `; empty for other containers. */
  readonly brand: string;
  /** Duration that the container declares, from its first time stamp, in seconds; null if it declares none. */
  readonly duration: number | null;
  /** The first time stamp of the file, in seconds. */
  readonly start: number;
  /** The first video stream. Cover images are skipped. */
  readonly video: Stream | null;
  /** The first audio stream. */
  readonly audio: Stream | null;
  /** Indexes of the cover images. */
  readonly covers: readonly number[];
  /** All streams, in file order. */
  readonly streams: readonly Stream[];
}

/**
 * Reads the header of an untrusted file in one of the six containers of the service.
 * @throws JobFailure MEDIA_UNSUPPORTED if the file has none of them, MEDIA_CORRUPT if it is damaged
 */
export async function readHeader(programs: Programs, file: string, run: EngineRun): Promise<MediaHeader> {
  const formats = {
    message: 'the file is not a video in one of the formats MP4, MOV, AVI, MPEG, MPG or M4V',
    advice: 'convert it to MP4',
  };
  try {
    return await probe(programs, untrustedInput(file), formats, run);
  } catch (error) {
    throw error instanceof PreparationFailure ? asMediaFailure(error) : error;
  }
}

/** The same for a file in any container that can be converted. @throws PreparationFailure */
export function readAnyHeader(programs: Programs, file: string, run: EngineRun): Promise<MediaHeader> {
  const formats = {
    message: 'the file is not a video that vloc can read',
    advice:
      'give an MP4, MOV, AVI, MPEG or M4V, or an MKV, WebM, TS, FLV, WMV or OGV, which can be converted',
  };
  return explainFailures('the header cannot be read', () =>
    probe(programs, convertibleInput(file), formats, run),
  );
}

/** Returns what a job reports for a file that cannot be prepared. */
export function asMediaFailure(error: PreparationFailure): JobFailure {
  const code = error.code === 'MEDIA_UNSUPPORTED' ? error.code : 'MEDIA_CORRUPT';
  return new JobFailure(code, `${error.message}; ${error.advice}`, { cause: error.cause });
}

/** @param formats what to report for a file in another format */
async function probe(
  programs: Programs,
  input: readonly string[],
  formats: Pick<PreparationFailure, 'message' | 'advice'>,
  run: EngineRun,
): Promise<MediaHeader> {
  const args = ['-v', 'error', '-show_entries', ENTRIES, '-of', 'json', ...input];
  const options = { ...run, limits: PROBE_LIMITS, maxStdoutBytes: HEADER_BYTES };
  const json = await programs.run('ffprobe', args, options).catch((error: unknown) => {
    if (!(error instanceof ChildFailure)) throw error;
    if (error.lastWords.includes('moov atom not found')) {
      const message = 'the video has no index: the recording or its copy was cut off';
      throw new PreparationFailure('MEDIA_CORRUPT', message, 'export or copy it again', { cause: error });
    }
    const unreadable = describeUnreadableHeader(error.lastWords);
    if (unreadable !== null)
      throw new PreparationFailure('MEDIA_UNSUPPORTED', unreadable, AGAIN, { cause: error });
    throw new PreparationFailure('MEDIA_UNSUPPORTED', formats.message, formats.advice, { cause: error });
  });
  return parseHeader(json.toString('utf8'));
}

const AGAIN = 'copy, download or export it again';

/** Returns what is wrong with the header of a file in a known container; null if ffprobe does not know the container. */
function describeUnreadableHeader(lastWords: string): string | null {
  const found = /(?:^\[[^\]]*\] (?<reason>.*)\n)?^\[[^\]]*\] error reading header$/m.exec(lastWords);
  if (found === null) return null;
  const reason = found.groups?.reason;
  return `the header of the video cannot be read${reason === undefined ? '' : ` (${reason})`}`;
}

/** The length in these containers includes the time before the first time stamp: an hour, if the clock of the camera shows one. */
const FROM_ZERO = /^(mov|matroska)/;

/** Parses the JSON of ffprobe. Exported for tests with hostile output. @throws PreparationFailure MEDIA_CORRUPT */
export function parseHeader(json: string): MediaHeader {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), HeaderSchema), json);
  if (!parsed.success) {
    const message = 'the header of the video cannot be read';
    throw new PreparationFailure('MEDIA_CORRUPT', message, 'export the video again');
  }
  const { format, streams } = parsed.output;
  const start = parseSeconds(format.start_time) ?? 0;
  const end = parseSeconds(format.duration);
  const pictures = streams.filter((stream) => stream.codec_type === 'video');
  const isCover = ({ disposition }: Stream) => disposition?.attached_pic === 1;
  return {
    demuxer: format.format_name,
    brand: format.tags?.major_brand ?? '',
    duration:
      end !== null && FROM_ZERO.test(format.format_name) ? Math.max(0, end - Math.max(0, start)) : end,
    start,
    video: pictures.find((stream) => !isCover(stream)) ?? null,
    audio: streams.find((stream) => stream.codec_type === 'audio') ?? null,
    covers: pictures.filter(isCover).map(({ index }) => index),
    streams,
  };
}

/** Returns a finite number of seconds, or null. */
export function parseSeconds(text: string | undefined): number | null {
  const value = Number.parseFloat(text ?? '');
  return Number.isFinite(value) ? value : null;
}

/** Frame rates are fractions, because 30000/1001 is not exactly 29.97. */
export interface Fraction {
  readonly num: number;
  readonly den: number;
}

/** Parses `30000/1001`. Returns null for `0/0` and for invalid text. */
function parseFraction(text: string | undefined): Fraction | null {
  const found = /^(\d{1,9})\/(\d{1,9})$/.exec(text ?? '');
  const num = Number(found?.[1] ?? 0);
  const den = Number(found?.[2] ?? 0);
  return num > 0 && den > 0 ? { num, den } : null;
}

/** Parses a fraction of ffprobe as a number: `30000/1001` returns 29.97. Returns 0 for `0/0` and for invalid text. */
export function parseRatio(text: string | undefined): number {
  const fraction = parseFraction(text);
  return fraction === null ? 0 : fraction.num / fraction.den;
}

export function formatFraction({ num, den }: Fraction): string {
  return `${num}/${den}`;
}

/** Returns the length of `frames` frames in seconds, which is also the start of the frame with that number. */
export function secondsOf(frames: number, rate: Fraction): number {
  return (frames * rate.den) / rate.num;
}

/** Returns the start of the frame in samples. Rounded only once, so that the lengths of parts add up exactly. */
export function samplesOf(frames: number, rate: Fraction, sampleRate: number): number {
  return Math.round((frames * rate.den * sampleRate) / rate.num);
}

/** Transfer functions of HDR pictures, as ffmpeg names them: HDR10 (PQ) and HLG. */
export type HdrTransfer = 'smpte2084' | 'arib-std-b67';

/** Returns the transfer function if it is one of HDR. */
export function hdrTransfer(transfer: string | undefined): HdrTransfer | null {
  return transfer === 'smpte2084' || transfer === 'arib-std-b67' ? transfer : null;
}

/** Whether a pixel format of ffmpeg, such as `yuv420p10le`, has more than 8 bits for each colour. */
export function isDeepFormat(format: string | undefined): boolean {
  return /(?:9|1[0-6])(?:[lb]e)$|^(?:p|x2|xv|y2)\d|f32|48|64/.test(format ?? '');
}

/**
 * Returns the displayed width and height in pixels: phones store a portrait video as landscape and mark it as rotated.
 */
export function displaySize(video: Stream): { width: number; height: number } {
  const rotation = video.side_data_list.find((data) => data.rotation !== undefined)?.rotation ?? 0;
  const lying = Math.abs(rotation) % 180 === 90;
  return lying ? { width: video.height, height: video.width } : { width: video.width, height: video.height };
}

/** Returns the width of a pixel divided by its height, as displayed; 1 if it is unknown. */
export function pixelAspect(video: Stream): number {
  const stored = parseRatio(video.sample_aspect_ratio.replace(':', '/')) || 1;
  return displaySize(video).width === video.width ? stored : 1 / stored;
}

export interface VideoFacts {
  /** File name without its folder. */
  readonly name: string;
  readonly bytes: number;
  /** The name of ffmpeg's demuxer, such as `matroska,webm`. */
  readonly demuxer: string;
  /** The longest duration that the container and its streams declare, in seconds; null if they declare none. */
  readonly durationSeconds: number | null;
  /** Duration that the container declares, from its first time stamp, in seconds; null if it declares none. */
  readonly containerSeconds: number | null;
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
  /** ffmpeg's name of the places of the channels, such as `5.1`; `unknown` without one. */
  readonly channel_layout: string;
  readonly language: string | null;
  readonly title: string | null;
  readonly isDefault: boolean;
}

/** Formats of cover images in MP4. */
const COVER_CODECS: ReadonlySet<string> = new Set(['mjpeg', 'png', 'bmp']);

/**
 * Reads the header of an untrusted file.
 * @throws PreparationFailure MEDIA_UNSUPPORTED if the file is not a video that can be read or converted, MEDIA_CORRUPT
 * if it is damaged
 */
export async function readFacts(programs: Programs, file: string, run: EngineRun): Promise<VideoFacts> {
  const { size } = await stat(file);
  const header = await readAnyHeader(programs, file, run);
  const { demuxer, video, covers, streams } = header;
  const tracks = streams.filter((stream) => stream.codec_type === 'audio');
  return {
    name: basename(file),
    bytes: size,
    demuxer,
    durationSeconds: longest([
      header.duration,
      ...[video, ...tracks].map((stream) => parseSeconds(stream?.duration)),
    ]),
    containerSeconds: header.duration,
    startSeconds: header.start,
    picture: video === null ? null : describePicture(video),
    covers: covers.filter((index) =>
      COVER_CODECS.has(streams.find((stream) => stream.index === index)?.codec_name ?? ''),
    ),
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
function longest(declared: readonly (number | null)[]): number | null {
  return Math.max(0, ...declared.map((value) => value ?? 0)) || null;
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
    channel_layout: stream.channel_layout,
    language: languageCode(stream.tags?.language),
    title: stream.tags?.title ?? null,
    isDefault: stream.disposition?.default === 1,
  };
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
export async function countFrames(programs: Programs, file: string, run: EngineRun): Promise<PictureFrames> {
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

/**
 * Codecs that are copied into an MP4; others are encoded again. MP4 has a place for MPEG-1 and MPEG-2 too, but browsers, phones
 * and QuickTime do not play them there. MPEG-4 (DivX) is the first codec of MP4: most players play it, browsers do not.
 */
export const MP4_CODECS: ReadonlySet<string> = new Set('h264 hevc av1 vp9 mpeg4'.split(' '));
