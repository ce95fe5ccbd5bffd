/**
 * Distinguishes a voice from music by where they are between the channels. If both come from one direction each, and not from the same
 * one, the voice can be computed exactly: what is across the direction of the music contains only the voice.
 */
import { computeMean } from '../../media/audio/samples.ts';
import { findPauses, type Segment } from '../../media/audio/segments.ts';

/** For each block of sound: the powers of the sum and the difference of the channels, and the product of both. */
export interface Powers {
  readonly mid: Float64Array;
  readonly side: Float64Array;
  readonly both: Float64Array;
}

/** Directions in radians: 0 in the centre, π/4 on the left side only, -π/4 on the right. */
export interface Apart {
  readonly voice: number;
  readonly music: number;
}

/** Pauses at most this far from a segment, in seconds, show where the music is. */
const NEIGHBOURHOOD = 5;
/** Music comes from one direction if the sound across it is at least 20 dB weaker: codecs add some. */
const NARROW = 0.01;
/** The voice is elsewhere if it makes the sound across the music stronger by at least 10 dB, and not weaker than -17 dB of the whole. */
const RISE = 10;
const LEAST_ACROSS = 0.02;
/**
 * Without the voice, the sound along the music must be as strong as in the pauses, give or take 2 dB. Otherwise the voice comes from
 * several directions, such as a voice in a room, or the music is not the same.
 */
const SAME_LEVEL = 1.6;
/** Both channels are at most π/4 from the centre. The estimate may be a little further: music and voice are never quite independent. */
const SIDE = Math.PI / 4;
const TOLERANCE = 0.1;

/**
 * Returns the directions of voice and music in a segment, or null if they do not come from one direction each, or from the same one.
 * @param segments all segments, in order of time
 * @param seconds length of a block
 */
export function findApart(
  segment: Segment,
  segments: readonly Segment[],
  powers: Powers,
  seconds: number,
): Apart | null {
  const end = powers.mid.length * seconds;
  const pauses = findPauses(segments, end).map((pause) => ({
    start: Math.max(pause.start, segment.start - NEIGHBOURHOOD),
    end: Math.min(pause.end, segment.end + NEIGHBOURHOOD),
  }));
  const paused = meanPowers(powers, pauses, seconds);
  const spoken = meanPowers(powers, [segment], seconds);
  if (paused === null || spoken === null) return null;
  const music = Math.atan2(2 * paused.both, paused.mid - paused.side) / 2;
  const { along: level, across: rest } = turn(paused, music);
  const { along, across, product } = turn(spoken, music);
  if (level <= 0 || rest > NARROW * level) return null;
  if (across < Math.max(RISE * rest, LEAST_ACROSS * (along + across))) return null;
  // Music does not add to the product, because it is not similar to the voice.
  const withoutVoice = along - product ** 2 / across;
  if (withoutVoice > SAME_LEVEL * level || withoutVoice < level / SAME_LEVEL) return null;
  // Opposite directions are the same line between the channels.
  const line = music + Math.atan2(across, product);
  const voice = line - Math.PI * Math.round(line / Math.PI);
  if (Math.abs(voice) > SIDE + TOLERANCE) return null;
  return { voice: Math.max(-SIDE, Math.min(SIDE, voice)), music };
}

type MeanPowers = Readonly<Record<keyof Powers, number>>;

/** Returns the means over all blocks inside the ranges, or null if there are none. */
function meanPowers(powers: Powers, ranges: readonly Segment[], seconds: number): MeanPowers | null {
  const blocks = ranges.flatMap(({ start, end }) => {
    const first = Math.ceil(start / seconds);
    return Array.from({ length: Math.max(0, Math.floor(end / seconds) - first) }, (_, at) => first + at);
  });
  if (blocks.length === 0) return null;
  const of = (values: Float64Array) => computeMean(blocks.map((block) => values[block] ?? 0));
  return { mid: of(powers.mid), side: of(powers.side), both: of(powers.both) };
}

/** Returns the powers along a direction and across it, and the product of both. */
function turn({ mid, side, both }: MeanPowers, angle: number) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return {
    along: mid * cos ** 2 + 2 * both * cos * sin + side * sin ** 2,
    across: mid * sin ** 2 - 2 * both * cos * sin + side * cos ** 2,
    product: both * (cos ** 2 - sin ** 2) + (side - mid) * cos * sin,
  };
}

/**
 * Computes the voice from the sum and the difference of the channels.
 * @param into as many samples as there are from `offset` on, or fewer
 */
export function voiceAcross(
  { voice, music }: Apart,
  { mid, side }: { readonly mid: Float32Array; readonly side: Float32Array },
  offset: number,
  into: Float32Array,
): void {
  const gain = 1 / Math.sin(voice - music);
  const [cos, sin] = [gain * Math.cos(music), gain * Math.sin(music)];
  for (let at = 0; at < into.length; at += 1)
    into[at] = (side[offset + at] ?? 0) * cos - (mid[offset + at] ?? 0) * sin;
}
