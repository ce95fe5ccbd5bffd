/** Validates a source video: container, streams, duration, and whether it is whole and can be decoded. */

import { access, type FileHandle, open } from 'node:fs/promises';
import { runTogether } from '../../base/together.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Media } from '../../protocol/media.ts';
import {
  convertibleInput,
  DECODER_LIMITS,
  FEW_ERRORS,
  QUIET,
  untrustedInput,
} from '../programs/arguments.ts';
import { ChildFailure, explainFailures, PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';
import {
  displaySize,
  type MediaHeader,
  parseRatio,
  parseSeconds,
  readHeader,
  type VideoFacts,
} from './facts.ts';
import {
  breaksOffAt,
  COPY_AGAIN,
  measuredDuration,
  measurePackets,
  type PacketSpan,
  requireComplete,
} from './packets.ts';

/**
 * Measures and decodes an untrusted file.
 * @param run.folder an existing folder for temporary files
 * @throws JobFailure MEDIA_UNSUPPORTED, MEDIA_CORRUPT, DURATION_EXCEEDED or NO_AUDIO_STREAM. Source: contract,
 * "Validation of a source video".
 */
export async function inspectVideo(programs: Programs, file: string, run: EngineRun): Promise<Media> {
  await access(file); // a missing file is not a fault of the media
  const header = await readHeader(programs, file, run);
  requireStreams(header);
  const packets = await measurePackets(programs, file, header, run);
  const duration = measuredDuration(header, packets);
  requireDuration(duration);
  requireWhole(header, packets);
  await requireAllBytes(file, header);
  const { width = 0, height = 0, avg_frame_rate: frameRate } = header.video ?? {};
  const pixels = width * height * (parseRatio(frameRate) || USUAL_RATE) * duration;
  await requireDecodable(programs, { input: untrustedInput(file), sound: '0:a:0', pixels }, run);
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
    const declared = parseSeconds(stream?.duration);
    const end = breaksOffAt(declared, packet, packets.first);
    if (end === null) continue;
    const message = `the ${what} breaks off at ${end.toFixed(1)} s of ${declared?.toFixed(1)} s: the file is incomplete; copy or export it again`;
    throw new JobFailure('MEDIA_CORRUPT', message);
  }
}

/** Also finds the last seconds missing, for which `requireWhole` has to be tolerant. */
async function requireAllBytes(file: string, header: MediaHeader): Promise<void> {
  const missing = await describeMissing(file, header);
  if (missing !== null) throw new JobFailure('MEDIA_CORRUPT', `${missing}; copy or export it again`);
}

/** Returns what is missing at the end of an MP4 or MOV; null if nothing is, and for other containers. */
async function describeMissing(file: string, { demuxer }: { demuxer: string }): Promise<string | null> {
  const missing = demuxer.includes('mov') ? await missingBytes(file) : 0;
  return missing === 0 ? null : `the last ${missing} bytes of the video are missing: the file is incomplete`;
}

/**
 * Checks cheaply that a video is not cut off: only the packets of a file that lacks bytes are read, to find out where it ends.
 * @throws PreparationFailure MEDIA_CORRUPT
 */
export async function requireAllOf(
  programs: Programs,
  file: string,
  facts: VideoFacts,
  run: EngineRun,
): Promise<void> {
  const missing = await describeMissing(file, facts);
  if (missing === null) return;
  await requireComplete(programs, file, facts, run);
  throw new PreparationFailure('MEDIA_CORRUPT', missing, COPY_AGAIN);
}

function describeMedia(header: MediaHeader, duration: number): Media {
  const { video, audio } = header;
  return {
    duration_seconds: Math.round(duration * 1000) / 1000,
    container: containerName(header),
    video: video && {
      codec: video.codec_name,
      ...displaySize(video),
      frame_rate:
        Math.round((parseRatio(video.avg_frame_rate) || parseRatio(video.r_frame_rate)) * 1000) / 1000,
    },
    audio: audio && {
      codec: audio.codec_name,
      sample_rate: Number.parseInt(audio.sample_rate, 10) || 0,
      channels: audio.channels,
    },
  };
}

/** ffmpeg reads MP4, MOV and M4V with one demuxer. The brand in the file distinguishes them. */
export function containerName(header: MediaHeader): string {
  if (!header.demuxer.includes('mov')) return header.demuxer;
  const brand = header.brand.trim().toLowerCase();
  if (brand === 'qt' || brand === '') return 'mov'; // old QuickTime files have no brand
  return brand.startsWith('m4v') ? 'm4v' : 'mp4';
}

/**
 * Boxes with media or its index. Other boxes that reach beyond the end are ignored: cameras and editors append data of
 * their own, which is not always made of boxes.
 */
const NEEDED: readonly string[] = ['mdat', 'moov', 'moof'];

/**
 * 15 minutes at 50 frames per second, with two boxes for each frame, have 90,000. More are not read, so that a file cannot
 * keep the service busy.
 */
const MOST_BOXES = 100_000;
const SHORT_HEAD_BYTES = 8;
const LONG_HEAD_BYTES = 16;

/**
 * Returns how many bytes the last box of an MP4 or MOV lacks: 0 for a whole file. Durations do not show it if only the
 * last part is missing, because the index at the start of the file is complete.
 */
export async function missingBytes(file: string): Promise<number> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    let at = 0;
    for (let boxes = 0; at + SHORT_HEAD_BYTES <= size && boxes < MOST_BOXES; boxes += 1) {
      const box = await readBox(handle, at);
      if (box === null) return 0;
      at += box.length;
      if (at > size) return NEEDED.includes(box.type) ? at - size : 0;
    }
    return 0;
  } finally {
    await handle.close();
  }
}

/** Returns null for a box that extends to the end of the file, and for bytes that are not a box. */
async function readBox(handle: FileHandle, at: number): Promise<{ type: string; length: number } | null> {
  const head = Buffer.alloc(LONG_HEAD_BYTES);
  await handle.read(head, 0, LONG_HEAD_BYTES, at);
  const short = head.readUInt32BE(0);
  const isLong = short === 1;
  const length = isLong ? Number(head.readBigUInt64BE(SHORT_HEAD_BYTES)) : short;
  if (length < (isLong ? LONG_HEAD_BYTES : SHORT_HEAD_BYTES)) return null;
  return { type: head.toString('latin1', 4, SHORT_HEAD_BYTES), length };
}

/**
 * Up to this many pixels, every frame is decoded, which takes about five seconds on two cores: 15 minutes of 360p, 100
 * s of 1080p. Above it, only key frames are decoded, because 15 minutes of 1080p would take a minute or more. Damage
 * between two key frames is then visible as artefacts in the result, as it is in the original.
 */
const EVERY_FRAME_PIXELS = 6e9;

/** The frame rate of television, where none is declared. */
const USUAL_RATE = 25;

/** Threads per decoder. Two streams are decoded concurrently, and the service does other work. */
const THREADS = '2';

interface Decoding {
  /** Input arguments of ffmpeg. */
  readonly input: readonly string[];
  /** The audio stream that is used, as ffmpeg selects it. */
  readonly sound: string;
  /** Of all pictures together; null for sound alone. */
  readonly pixels: number | null;
}

/**
 * Decodes all sound and the pictures (all pictures, or only the key frames of large videos).
 * @throws JobFailure MEDIA_CORRUPT if more than one frame in fifty cannot be decoded
 */
async function requireDecodable(programs: Programs, media: Decoding, run: EngineRun): Promise<void> {
  const { input, sound, pixels } = media;
  const decode = (stream: string, what: string, options: readonly string[]) => (signal: AbortSignal) => {
    const output = ['-map', stream, '-f', 'null', '-'];
    const args = [...QUIET, ...FEW_ERRORS, '-threads', THREADS, ...options, ...input, ...output];
    return programs
      .run('ffmpeg', args, { ...run, signal, limits: DECODER_LIMITS })
      .catch((error: unknown) => {
        if (!(error instanceof ChildFailure)) throw error;
        throw new JobFailure('MEDIA_CORRUPT', `the ${what} of the video cannot be decoded`, { cause: error });
      });
  };
  const frames = (pixels ?? 0) > EVERY_FRAME_PIXELS ? ['-skip_frame', 'nokey'] : [];
  const picture = pixels === null ? [] : [decode('0:V:0', 'picture', frames)];
  await runTogether(run.signal, [decode(sound, 'sound', []), ...picture]);
}

/**
 * The checks of `inspectVideo` for a video that is used on this machine: of any length, and in any container that can be
 * converted.
 * @param file `track`: number of the audio track that is used, from 1
 * @throws PreparationFailure MEDIA_CORRUPT if it is not whole or cannot be decoded
 */
export async function requirePlayable(
  programs: Programs,
  { path, facts, track }: { readonly path: string; readonly facts: VideoFacts; readonly track: number },
  run: EngineRun,
): Promise<void> {
  await requireComplete(programs, path, facts, run);
  const { width = 0, height = 0, frameRate = null } = facts.picture ?? {};
  const rate = frameRate === null ? USUAL_RATE : frameRate.num / frameRate.den;
  const pixels = facts.picture === null ? null : width * height * rate * (facts.durationSeconds ?? 0);
  const decoding = { input: convertibleInput(path), sound: `0:a:${track - 1}`, pixels };
  const decode = () => requireDecodable(programs, decoding, run);
  await explainFailures('the video cannot be decoded', decode).catch((error: unknown) => {
    if (!(error instanceof JobFailure)) throw error;
    const advice = 'play it to see where it is damaged, then copy, download or export it again';
    throw new PreparationFailure('MEDIA_CORRUPT', error.message, advice, { cause: error });
  });
}
