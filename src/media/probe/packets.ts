/**
 * Packets of media files: how long a video really is, because its header may be forged, and whether it is complete, because
 * the result of a truncated file would look complete.
 */
import { JobFailure } from '../../protocol/job-failure.ts';
import { convertibleInput, untrustedInput } from '../programs/arguments.ts';
import { ChildFailure, explainFailures, PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';
import { asMediaFailure, type MediaHeader, PROBE_LIMITS, parseSeconds, type VideoFacts } from './facts.ts';

/** Times are in seconds. */
interface Packet {
  readonly at: number;
  readonly lasts: number;
  /** Index of its stream. */
  readonly stream: number;
  /** Flags of ffprobe, such as `K` for a key frame. */
  readonly flags: string;
}

/**
 * Reads the packets of all streams, one at a time: 15 minutes contain about 80,000.
 * @throws ChildFailure; PreparationFailure MEDIA_CORRUPT if the clock jumps
 */
async function readPackets(
  programs: Programs,
  { demuxer, input }: { readonly demuxer: string; readonly input: readonly string[] },
  { cpuSeconds, ...run }: EngineRun & { readonly cpuSeconds: number },
  onPacket: (packet: Packet) => void,
): Promise<void> {
  const clocks = new Map<string, number>();
  const onLine = (line: string) => {
    const [type, stream = '', pts, dts, duration, flags = ''] = line.split(',');
    const at = parseSeconds(pts) ?? parseSeconds(dts);
    const clock = parseSeconds(dts);
    if (JUMPING.test(demuxer) && clock !== null && type !== 'subtitle' && type !== 'data') {
      requireSteady(clocks.get(stream) ?? clock, clock);
      clocks.set(stream, clock);
    }
    if (at !== null) onPacket({ at, lasts: parseSeconds(duration) ?? 0, stream: Number(stream), flags });
  };
  const entries = 'packet=codec_type,stream_index,pts_time,dts_time,duration_time,flags';
  const args = ['-v', 'error', '-show_entries', entries, '-of', 'csv=p=0', ...input];
  await programs.run('ffprobe', args, { ...run, onLine, limits: { ...PROBE_LIMITS, cpuSeconds } });
}

/** Demuxers of streams that are joined by appending one to the other. */
const JUMPING = /^mpeg/;
/** Larger jumps in seconds, back and ahead, are a new clock for ffmpeg, which then shows one recording after the other. */
const MOST_BACK_SECONDS = 0.1;
const MOST_AHEAD_SECONDS = 10;

/** The length of a video whose clock jumps is not the difference of its times, and its sound would end too early. */
function requireSteady(before: number, now: number): void {
  if (now >= before - MOST_BACK_SECONDS && now <= before + MOST_AHEAD_SECONDS) return;
  const jump = `from ${before.toFixed(1)} s to ${now.toFixed(1)} s`;
  const message = `the clock of the video jumps ${jump}, as where recordings were joined`;
  throw new PreparationFailure('MEDIA_CORRUPT', message, 'write it as one recording: `ffmpeg -i IN OUT.mp4`');
}

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
  const all = [header.duration, parseSeconds(header.video?.duration), parseSeconds(header.audio?.duration)];
  return Math.max(0, ...all.map((value) => value ?? 0));
}

type LastPacket = Pick<Packet, 'at' | 'lasts'>;

function reach(packet: LastPacket | null): number {
  return packet === null ? 0 : packet.at + packet.lasts;
}

export interface PacketSpan {
  /** Time of the first packet of either stream, in seconds. */
  readonly first: number;
  /** The last packet of the video and the audio stream. */
  readonly video: LastPacket | null;
  readonly audio: LastPacket | null;
}

/** Reading 1 GiB packet by packet takes about a second. The rest is for slow disks and thousands of tiny packets. */
const PACKET_CPU_SECONDS = 30;

/** Measures the packets of an untrusted file. @throws JobFailure MEDIA_CORRUPT if they cannot be read */
export async function measurePackets(
  programs: Programs,
  file: string,
  header: MediaHeader,
  run: EngineRun,
): Promise<PacketSpan> {
  let first = Number.POSITIVE_INFINITY;
  const last = new Map<number, LastPacket>();
  const onPacket = (packet: Packet) => {
    if (packet.stream !== header.video?.index && packet.stream !== header.audio?.index) return;
    first = Math.min(first, packet.at);
    const known = last.get(packet.stream);
    if (known === undefined || packet.at > known.at) last.set(packet.stream, packet);
  };
  // Edit lists can remove packets from the header's duration: a file with a list of 10 s over 1,000 s of packets was
  // accepted.
  const options = header.demuxer.includes('mov') ? ['-ignore_editlist', '1'] : [];
  const limited = { ...run, cpuSeconds: PACKET_CPU_SECONDS };
  const input = untrustedInput(file, options);
  await readPackets(programs, { ...header, input }, limited, onPacket).catch((error: unknown) => {
    if (error instanceof PreparationFailure) throw asMediaFailure(error);
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

/** A truncated file lacks more than this share of its declared duration, and more than one second. */
const MISSING_SHARE = 0.05;
const MISSING_SECONDS = 1;

/**
 * Returns where the packets of a stream end, in seconds, if that is before the end that its header declares; else null.
 */
export function breaksOffAt(
  declared: number | null,
  packet: LastPacket | null,
  first: number,
): number | null {
  if (declared === null) return null;
  const reached = Math.max(0, reach(packet) - first);
  const missing = declared - reached;
  return missing > MISSING_SECONDS && missing > declared * MISSING_SHARE ? reached : null;
}

export const COPY_AGAIN =
  'copy, download or export it again; if this is the only copy, `ffmpeg -i IN -c copy OUT` writes what is left of it as a complete file';

/** For all other containers, ffprobe computes the length from what is there. */
const DECLARING = /^(mov|matroska|flv)/;

type DeclaredLength = Pick<VideoFacts, 'demuxer' | 'containerSeconds'>;

/** Reads the packets of a video before it is converted or cut only to see whether it is complete. Sound is measured by `soundSeconds`. */
export async function requireComplete(
  programs: Programs,
  file: string,
  facts: DeclaredLength & Pick<VideoFacts, 'picture'>,
  run: EngineRun,
): Promise<void> {
  if (facts.picture !== null && DECLARING.test(facts.demuxer))
    await readLongPackets(programs, file, facts, run, () => {});
}

/** Reading 10 GiB packet by packet takes about ten seconds. */
const LONG_CPU_SECONDS = 120;

/**
 * Reads the packets of a file that may be long and in a container that is converted. Compares the end of the last one with the
 * length that the header declares, with the tolerance of the service.
 * @throws PreparationFailure MEDIA_CORRUPT if the file is truncated
 */
export async function readLongPackets(
  programs: Programs,
  file: string,
  { demuxer, containerSeconds }: DeclaredLength,
  run: EngineRun,
  onPacket: (packet: Packet) => void,
): Promise<void> {
  let first = Number.POSITIVE_INFINITY;
  let last: LastPacket | null = null;
  const limited = { ...run, cpuSeconds: LONG_CPU_SECONDS };
  await explainFailures('the packets of the video cannot be read', () =>
    readPackets(programs, { demuxer, input: convertibleInput(file) }, limited, (packet) => {
      first = Math.min(first, packet.at);
      // Packets of all streams: a single one may end early, and subtitles may be shown after the last picture.
      if (last === null || packet.at > last.at) last = packet;
      onPacket(packet);
    }),
  );
  const end = breaksOffAt((DECLARING.test(demuxer) && containerSeconds) || null, last, first);
  if (end === null) return;
  const message = `the video breaks off at ${end.toFixed(1)} s of ${containerSeconds?.toFixed(1)} s: the file is incomplete`;
  throw new PreparationFailure('MEDIA_CORRUPT', message, COPY_AGAIN);
}
