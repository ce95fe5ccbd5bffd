/** How long a video is, when its header may lie. */
import type { Header } from './header.ts';
import { seconds } from './header.ts';
import type { PacketSpan } from './packets.ts';

/**
 * Packets of an honest file reach a little beyond its declared end: up to 0.12 s of encoder delay and padding in
 * HE-AAC, some frames of reordered video, a start that is not zero. Only a larger difference shows a forged header.
 */
const HONEST_EXCESS_SECONDS = 0.25;

/**
 * The duration for limits and billing: the largest of the container's, the streams' and the last packet's, in seconds.
 * Source: contract, "Validation of a source video".
 */
export function measuredDuration(header: Header, packets: PacketSpan): number {
  const declared = declaredDuration(header);
  const reached = Math.max(reach(packets.video), reach(packets.audio)) - packets.first;
  return reached > declared + HONEST_EXCESS_SECONDS ? reached : declared;
}

/** The largest duration that the header declares; 0 when it declares none. */
export function declaredDuration(header: Header): number {
  const all = [header.duration, seconds(header.video?.duration), seconds(header.audio?.duration)];
  return Math.max(0, ...all.map((value) => value ?? 0));
}

function reach(packet: PacketSpan['video']): number {
  return packet === null ? 0 : packet.at + packet.lasts;
}

/** A file that was cut off lacks more than this share of what it declares, and more than a second. */
const MISSING_SHARE = 0.05;
const MISSING_SECONDS = 1;

/**
 * Where the packets of a stream break off before the end that its header declares, in seconds; null when they do not.
 */
export function breaksOffAt(
  declared: number | null,
  packet: PacketSpan['video'],
  first: number,
): number | null {
  if (declared === null) return null;
  const reached = Math.max(0, reach(packet) - first);
  const missing = declared - reached;
  return missing > MISSING_SECONDS && missing > declared * MISSING_SHARE ? reached : null;
}
