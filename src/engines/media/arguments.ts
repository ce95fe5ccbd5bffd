/** How ffmpeg and ffprobe are pointed at files. */
import { resolve } from 'node:path';

/**
 * The demuxers of the six containers. ffmpeg compares every name of a demuxer, so `mov` admits
 * "mov,mp4,m4a,3gp,3g2,mj2"; `mpegvideo` is a bare MPEG picture stream, which then fails for want of sound.
 */
export const DEMUXERS = 'mov,avi,mpeg,mpegvideo';

/**
 * Input arguments for a video from outside. Without the two lists a playlist named `.mp4` makes ffmpeg open other
 * files and addresses. `options` are further input options, such as `-ignore_editlist 1`.
 */
export function untrustedInput(file: string, options: readonly string[] = []): string[] {
  return ['-protocol_whitelist', 'file', '-format_whitelist', DEMUXERS, ...options, '-i', fileAddress(file)];
}

/** Input arguments for a file that one of our own steps wrote, of the given demuxer. */
export function ownInput(file: string, demuxer: string): string[] {
  return ['-protocol_whitelist', 'file', '-f', demuxer, '-i', fileAddress(file)];
}

/** A path as ffmpeg must see it: whole, and never read as an option or a protocol, whatever its name. */
export function fileAddress(path: string): string {
  return `file:${resolve(path)}`;
}

/** No question, no banner, errors only, nothing read from stdin; an existing output is replaced. */
export const QUIET = ['-hide_banner', '-nostdin', '-v', 'error', '-y'] as const;

/** What a decoder of untrusted media may use: 4 GiB hold the reference frames of 8K video with two threads. */
const DECODER_MEMORY_BYTES = 4 * 1024 ** 3;

/** A CPU quarter of an hour is the length of the longest video, far above what decoding takes. */
export const DECODER_LIMITS = { memoryBytes: DECODER_MEMORY_BYTES, cpuSeconds: 900 } as const;

/** Encoding large pictures takes as long as it takes; the job's own deadline ends it. */
export const ENCODER_LIMITS = { memoryBytes: DECODER_MEMORY_BYTES } as const;
