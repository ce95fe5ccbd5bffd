/**
 * The frames of a video according to its packets: their number, how regular they are, and where the picture can be cut
 * without encoding.
 */

import { PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';
import { type Fraction, MP4_CODECS, secondsOf, type VideoFacts } from './facts.ts';
import { readLongPackets } from './packets.ts';

export interface Timeline {
  readonly frames: number;
  readonly frameRate: Fraction;
  /** True if every frame is less than half a frame away from its position at the constant rate. */
  readonly isConstant: boolean;
  /** The first frame, in seconds after the start time of the file. */
  readonly startSeconds: number;
  /** From the first frame to the end of the last one. */
  readonly pictureSeconds: number;
  /** From the first frame to the end of the picture or the sound, whichever is later. */
  readonly durationSeconds: number;
  /** Numbers of the frames before which the picture can be cut without decoding, except 0. */
  readonly cleanFrames: readonly number[];
}

/** One packet of the picture, in decoding order. Times are in seconds. */
interface PicturePacket {
  readonly at: number;
  readonly isKey: boolean;
  /** An edit list hides this packet: it is decoded but not shown. */
  readonly isHidden: boolean;
}

/** 20 hours at 60 frames per second. A file with more frames is probably malicious, and each frame costs memory. */
const MOST_FRAMES = 4_320_000;

/** Containers with complete time stamps, so that the picture can be copied out of them if MP4 supports its codec. */
const WITH_TIME_STAMPS = /mov|matroska/;

/**
 * Reads the times of all picture and sound packets.
 * @throws PreparationFailure MEDIA_CORRUPT if the file is truncated, if there are no frames or if their times cannot be read
 */
export async function readTimeline(
  programs: Programs,
  file: string,
  facts: VideoFacts,
  run: EngineRun,
): Promise<Timeline> {
  const packets: PicturePacket[] = [];
  let soundEnd = 0;
  await readLongPackets(programs, file, facts, run, ({ at, lasts, stream, flags }) => {
    if (stream === facts.picture?.index) {
      if (packets.length >= MOST_FRAMES)
        throw corruptFailure(`the video has more than ${MOST_FRAMES} frames`);
      packets.push({ at, isKey: flags.includes('K'), isHidden: flags.includes('D') });
    } else if (facts.tracks.some((track) => track.index === stream)) {
      soundEnd = Math.max(soundEnd, at + lasts);
    }
  });
  const canCopy = WITH_TIME_STAMPS.test(facts.demuxer) && MP4_CODECS.has(facts.picture?.codec ?? '');
  const { first, ...times } = describePackets(packets, facts.picture?.frameRate ?? null);
  return {
    ...times,
    startSeconds: first - facts.startSeconds,
    durationSeconds: Math.max(times.pictureSeconds, soundEnd - first),
    cleanFrames: canCopy ? times.cleanFrames : [],
  };
}

/** A declared rate is used if it differs from the packets by no more than this share. */
const BELIEVED = 0.002;

/** Computes the result from the packets of the picture in decoding order. Does no I/O. */
export function describePackets(packets: readonly PicturePacket[], declared: Fraction | null) {
  const shown = packets.filter((packet) => !packet.isHidden).map((packet) => packet.at);
  shown.sort((left, right) => left - right);
  const first = shown[0];
  const last = shown.at(-1);
  if (first === undefined || last === undefined) throw corruptFailure('the video has no frames');
  const measured = shown.length > 1 && last > first ? (shown.length - 1) / (last - first) : null;
  const frameRate = chooseRate(measured, declared);
  const frameSeconds = secondsOf(1, frameRate);
  const isConstant = shown.every(
    (at, frame) => Math.abs(at - first - frame * frameSeconds) < frameSeconds / 2,
  );
  return {
    first,
    frames: shown.length,
    frameRate,
    isConstant,
    pictureSeconds: isConstant ? shown.length * frameSeconds : last - first + frameSeconds,
    cleanFrames: shown.length === packets.length ? findCleanFrames(packets) : [],
  };
}

function chooseRate(measured: number | null, declared: Fraction | null): Fraction {
  if (declared !== null) {
    if (measured === null || Math.abs(measured / (declared.num / declared.den) - 1) < BELIEVED)
      return declared;
  }
  if (measured === null) return { num: 25, den: 1 }; // a single picture: any rate shows it
  const ntsc = Math.round(measured * 1.001);
  const isNtsc = Math.abs((ntsc * 1000) / 1001 - measured) < Math.abs(Math.round(measured) - measured);
  if (isNtsc && Math.abs((ntsc * 1000) / 1001 / measured - 1) < BELIEVED)
    return { num: ntsc * 1000, den: 1001 };
  return Math.abs(Math.round(measured) / measured - 1) < BELIEVED
    ? { num: Math.round(measured), den: 1 }
    : { num: Math.round(measured * 1000), den: 1000 };
}

/**
 * Finds key frames with all earlier packets shown before them and all later packets shown after them, so that neither
 * side needs the other. The first frame of an open group of pictures does not qualify: pictures that are shown before
 * it are stored after it.
 */
function findCleanFrames(packets: readonly PicturePacket[]): number[] {
  const earliestFrom = new Float64Array(packets.length + 1).fill(Number.POSITIVE_INFINITY);
  for (let at = packets.length - 1; at >= 0; at -= 1) {
    earliestFrom[at] = Math.min(packets[at]?.at ?? 0, earliestFrom[at + 1] ?? 0);
  }
  const clean: number[] = [];
  let latest = Number.NEGATIVE_INFINITY;
  for (const [position, packet] of packets.entries()) {
    const isFirstShown = (earliestFrom[position] ?? 0) >= packet.at;
    if (position > 0 && packet.isKey && isFirstShown && latest < packet.at) clean.push(position);
    latest = Math.max(latest, packet.at);
  }
  return clean;
}

function corruptFailure(message: string): PreparationFailure {
  return new PreparationFailure('MEDIA_CORRUPT', message, 'export the video again');
}
