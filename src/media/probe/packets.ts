/** Measures the real duration of a video from its packets, because its header may be forged. */
import { JobFailure } from '../../protocol/job-failure.ts';
import { untrustedInput } from '../programs/arguments.ts';
import { ChildFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import { type MediaHeader, PROBE_LIMITS, seconds } from './header.ts';

/**
 * In valid files, packets may end a little after the declared end: up to 0.12 s of encoder delay and padding in HE-AAC,
 * some frames of reordered video, a start that is not zero. Only a larger difference indicates a forged header.
 */
const HONEST_EXCESS_SECONDS = 0.25;

/**
 * Returns the duration for limits and billing, in seconds: the largest of the container's and the streams' durations
 * and the end of the last packet. Source: contract, "Validation of a source video".
 */
export function measuredDuration(header: MediaHeader, packets: PacketSpan): number {
  const declared = declaredDuration(header);
  const reached = Math.max(reach(packets.video), reach(packets.audio)) - packets.first;
  return reached > declared + HONEST_EXCESS_SECONDS ? reached : declared;
}

/** Returns the largest duration that the header declares; 0 if it declares none. */
export function declaredDuration(header: MediaHeader): number {
  const all = [header.duration, seconds(header.video?.duration), seconds(header.audio?.duration)];
  return Math.max(0, ...all.map((value) => value ?? 0));
}

function reach(packet: PacketSpan['video']): number {
  return packet === null ? 0 : packet.at + packet.lasts;
}

/** A truncated file lacks more than this share of its declared duration, and more than one second. */
const MISSING_SHARE = 0.05;
const MISSING_SECONDS = 1;

/**
 * Returns where the packets of a stream end, in seconds, if that is before the end that its header declares; else null.
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

/** Reading 1 GiB packet by packet takes about a second. The rest is for slow disks and thousands of tiny packets. */
const PACKET_CPU_SECONDS = 30;

export interface PacketSpan {
  /** Time of the first packet of either stream, in seconds. */
  readonly first: number;
  /** Time and duration of the last packet of the video and the audio stream. */
  readonly video: LastPacket | null;
  readonly audio: LastPacket | null;
}

export interface LastPacket {
  readonly at: number;
  readonly lasts: number;
}

/** Reads the times of all packets, one line at a time: 15 minutes contain about 80,000. */
export async function measurePackets(
  programs: Programs,
  file: string,
  header: MediaHeader,
  run: { signal: AbortSignal; folder: string },
): Promise<PacketSpan> {
  let first = Number.POSITIVE_INFINITY;
  const last = new Map<number, LastPacket>();
  const onLine = (line: string) => {
    const [stream, pts, dts, duration] = line.split(',');
    const index = Number(stream);
    if (index !== header.video?.index && index !== header.audio?.index) return;
    const at = finite(pts) ?? finite(dts);
    if (at === null) return;
    first = Math.min(first, at);
    const known = last.get(index);
    if (known === undefined || at > known.at) last.set(index, { at, lasts: finite(duration) ?? 0 });
  };
  const entries = 'packet=stream_index,pts_time,dts_time,duration_time';
  // Edit lists can remove packets from the header's duration: a file with a list of 10 s over 1,000 s of packets was
  // accepted.
  const options = header.demuxer.includes('mov') ? ['-ignore_editlist', '1'] : [];
  const args = ['-v', 'error', '-show_entries', entries, '-of', 'csv=p=0', ...untrustedInput(file, options)];
  const limits = { ...PROBE_LIMITS, cpuSeconds: PACKET_CPU_SECONDS };
  await programs.run('ffprobe', args, { ...run, onLine, limits }).catch((error: unknown) => {
    if (!(error instanceof ChildFailure)) throw error;
    throw new JobFailure('MEDIA_CORRUPT', 'the packets of the video cannot be read', { cause: error });
  });
  const lastOf = (index: number | undefined) => (index === undefined ? null : (last.get(index) ?? null));
  return {
    first: Number.isFinite(first) ? first : 0,
    video: lastOf(header.video?.index),
    audio: lastOf(header.audio?.index),
  };
}

function finite(text: string | undefined): number | null {
  const value = Number.parseFloat(text ?? '');
  return Number.isFinite(value) ? value : null;
}
