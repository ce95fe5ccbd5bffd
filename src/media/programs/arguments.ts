/** Arguments for ffmpeg and ffprobe: files, limits and options. */
import { resolve } from 'node:path';

/**
 * The demuxers of the six containers. ffmpeg compares every name of a demuxer, so `mov` allows
 * "mov,mp4,m4a,3gp,3g2,mj2". `mpegvideo` is a raw MPEG video stream, which fails later because it has no sound.
 */
const DEMUXERS = 'mov,avi,mpeg,mpegvideo';

/**
 * Returns input arguments for an untrusted video. Without the two lists, a playlist named `.mp4` could make ffmpeg open
 * other files and URLs. `options` are further input options, such as `-ignore_editlist 1`.
 */
export function untrustedInput(file: string, options: readonly string[] = []): string[] {
  return ['-protocol_whitelist', 'file', '-format_whitelist', DEMUXERS, ...options, '-i', fileAddress(file)];
}

/** Returns input arguments for a file that another step wrote, of the given demuxer. */
export function ownInput(file: string, demuxer: string): string[] {
  return ['-protocol_whitelist', 'file', '-f', demuxer, '-i', fileAddress(file)];
}

/** Returns an absolute path in a form that ffmpeg never reads as an option or a protocol. */
export function fileAddress(path: string): string {
  return `file:${resolve(path)}`;
}

/** No prompt, no banner, only errors, no stdin; replaces an existing output. */
export const QUIET = ['-hide_banner', '-nostdin', '-v', 'error', '-y'] as const;

/** Memory limit for decoders of untrusted media: 4 GiB hold the reference frames of 8K video with two threads. */
const DECODER_MEMORY_BYTES = 4 * 1024 ** 3;

/** 15 minutes of CPU time: the length of the longest video, far more than decoding takes. */
export const DECODER_LIMITS = { memoryBytes: DECODER_MEMORY_BYTES, cpuSeconds: 900 } as const;

/** No CPU limit, because encoding large pictures takes long. The deadline of the job applies. */
export const ENCODER_LIMITS = { memoryBytes: DECODER_MEMORY_BYTES } as const;

/** Accepted in addition to the six containers of the service. None of their demuxers opens other files. */
const CONVERTIBLE = 'matroska,webm,mpegts,flv,asf,ogg,mp3,aac,wav,flac';

/**
 * Returns input arguments for an untrusted video or sound file. Only files in these containers are opened: otherwise a playlist named
 * `.mkv` could make ffmpeg read other files and URLs. `options` are further input options.
 */
export function convertibleInput(file: string, options: readonly string[] = []): string[] {
  const formats = `${DEMUXERS},${CONVERTIBLE}`;
  return [
    ...['-protocol_whitelist', 'file', '-format_whitelist', formats],
    ...options,
    ...['-i', fileAddress(file)],
  ];
}

/**
 * Parses the lines of ffmpeg's `-progress pipe:1` and reports the written fraction of `seconds`. Reports nothing if
 * `seconds` is 0.
 */
export function trackProgress(seconds: number, report: (fraction: number) => void): (line: string) => void {
  return (line) => {
    const time = /^out_time_us=(\d+)/.exec(line)?.[1];
    if (time !== undefined && seconds > 0) report(Math.min(1, Number(time) / 1e6 / seconds));
  };
}

/**
 * The share of undecodable frames that is accepted: players hide a few broken frames, which are common in recordings.
 * Above this share ffmpeg exits with `TOO_MANY_ERRORS`.
 */
export const FEW_ERRORS = ['-max_error_rate', '0.02'] as const;

/** The exit code of ffmpeg when the error rate is exceeded. */
export const TOO_MANY_ERRORS = 69;
