/** Filters that make two channels of a sound, where ffmpeg does not know how or would lose a voice. */
import { HIGHEST_PEAK } from './limiter.ts';

/** Channels of a sound, as ffprobe names them. */
export interface Channels {
  readonly channels: number;
  readonly channel_layout: string;
}

/**
 * Layouts that do not say where the channels are: recorders of interviews have one for each microphone. ffmpeg takes any three
 * channels for `2.1`, and drops the third.
 */
const UNPLACED: readonly string[] = ['unknown', '2.1'];

/** Whether nothing is known about the places of more than two channels. */
function isUnplaced({ channels, channel_layout: layout }: Channels): boolean {
  return channels > 2 && UNPLACED.includes(layout);
}

/**
 * Returns filters that mix unplaced channels to two equal ones, in which each is heard; none for all other sound, which ffmpeg
 * can mix. The level of the mix is that of a channel if their sounds are independent; those that are the same are limited.
 */
export function mixUnplaced(sound: Channels): string[] {
  if (!isUnplaced(sound)) return [];
  const gain = 1 / Math.sqrt(sound.channels);
  const sum = Array.from({ length: sound.channels }, (_, at) => `${gain.toFixed(4)}*c${at}`).join('+');
  return [`pan=stereo|c0=${sum}|c1=${sum}`, `alimiter=limit=${HIGHEST_PEAK}:level=0:latency=1`];
}

/** Inverts the second of two channels. */
export const TURN_SECOND = 'pan=stereo|c0=c0|c1=-1*c1';
