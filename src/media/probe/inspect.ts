/** Validates a source video: container, streams, duration, and whether it can be decoded. */
import { access } from 'node:fs/promises';
import { JobFailure } from '../../protocol/job-failure.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Media } from '../../protocol/media.ts';
import type { Programs } from '../programs/programs.ts';
import { checkDecodes, ratio } from './decode-check.ts';
import { breaksOffAt, measuredDuration, measurePackets, type PacketSpan } from './duration.ts';
import { type MediaHeader, readHeader, seconds } from './header.ts';
import { missingBytes } from './missing-bytes.ts';

/**
 * Measures and decodes an untrusted file.
 * @param run.folder an existing folder for temporary files
 * @throws JobFailure MEDIA_UNSUPPORTED, MEDIA_CORRUPT, DURATION_EXCEEDED or NO_AUDIO_STREAM. Source: contract,
 * "Validation of a source video".
 */
export async function inspectVideo(
  programs: Programs,
  file: string,
  run: { signal: AbortSignal; folder: string },
): Promise<Media> {
  await access(file); // a missing file is not a fault of the media
  const header = await readHeader(programs, file, run);
  requireStreams(header);
  const packets = await measurePackets(programs, file, header, run);
  const duration = measuredDuration(header, packets);
  requireDuration(duration);
  requireWhole(header, packets);
  await requireAllBytes(file, header);
  await checkDecodes(programs, file, { header, duration }, run);
  return describeMedia(header, duration);
}

function requireStreams(header: MediaHeader): void {
  if (header.video === null) {
    throw new JobFailure(
      'MEDIA_UNSUPPORTED',
      'the file has no picture stream: it must be a video, not only sound',
    );
  }
  if (header.audio === null) {
    throw new JobFailure('NO_AUDIO_STREAM', 'the video has no sound, so there is no speech to work on');
  }
}

/** Exact to the millisecond, like durations in headers: 900.000 s is accepted, 900.001 s is not. */
function requireDuration(duration: number): void {
  const milliseconds = Math.round(duration * 1000);
  if (milliseconds <= 0) throw new JobFailure('MEDIA_CORRUPT', 'the video has no duration: it has no frames');
  if (milliseconds > LIMITS.videoSeconds * 1000) {
    const minutes = LIMITS.videoSeconds / 60;
    const message = `the video lasts ${duration.toFixed(3)} s, the limit is ${LIMITS.videoSeconds} s (${minutes} minutes); cut it into parts`;
    throw new JobFailure('DURATION_EXCEEDED', message);
  }
}

function requireWhole(header: MediaHeader, packets: PacketSpan): void {
  const parts = [
    { what: 'picture', stream: header.video, packet: packets.video },
    { what: 'sound', stream: header.audio, packet: packets.audio },
  ];
  for (const { what, stream, packet } of parts) {
    const declared = seconds(stream?.duration);
    const end = breaksOffAt(declared, packet, packets.first);
    if (end === null) continue;
    const message = `the ${what} breaks off at ${end.toFixed(1)} s of ${declared?.toFixed(1)} s: the file is incomplete; copy or export it again`;
    throw new JobFailure('MEDIA_CORRUPT', message);
  }
}

/** Also finds the last seconds missing, for which `requireWhole` has to be tolerant. */
async function requireAllBytes(file: string, header: MediaHeader): Promise<void> {
  if (!header.demuxer.includes('mov')) return;
  const missing = await missingBytes(file);
  if (missing === 0) return;
  const message = `the last ${missing} bytes of the video are missing: the file is incomplete; copy or export it again`;
  throw new JobFailure('MEDIA_CORRUPT', message);
}

function describeMedia(header: MediaHeader, duration: number): Media {
  const { video, audio } = header;
  return {
    duration_seconds: Math.round(duration * 1000) / 1000,
    container: containerName(header),
    video: video && {
      codec: video.codec_name,
      ...displaySize(video),
      frame_rate: Math.round((ratio(video.avg_frame_rate) || ratio(video.r_frame_rate)) * 1000) / 1000,
    },
    audio: audio && {
      codec: audio.codec_name,
      sample_rate: Number.parseInt(audio.sample_rate, 10) || 0,
      channels: audio.channels,
    },
  };
}

/**
 * Returns the displayed width and height in pixels: phones store a portrait video as landscape and mark it as rotated.
 */
export function displaySize(video: NonNullable<MediaHeader['video']>): { width: number; height: number } {
  const rotation = video.side_data_list.find((data) => data.rotation !== undefined)?.rotation ?? 0;
  const lying = Math.abs(rotation) % 180 === 90;
  return lying ? { width: video.height, height: video.width } : { width: video.width, height: video.height };
}

/** ffmpeg reads MP4, MOV and M4V with one demuxer. The brand in the file distinguishes them. */
export function containerName(header: MediaHeader): string {
  if (!header.demuxer.includes('mov')) return header.demuxer;
  const brand = header.brand.trim().toLowerCase();
  if (brand === 'qt' || brand === '') return 'mov'; // old QuickTime files have no brand
  return brand.startsWith('m4v') ? 'm4v' : 'mp4';
}
