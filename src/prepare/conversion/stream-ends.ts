/**
 * What a container declares of its length, beside how far its packets reach: the two differ when a file is not whole.
 */
import type { LastPacket } from '../../engines/media/duration.ts';
import { PROBE_LIMITS, seconds } from '../../engines/media/header.ts';
import type { Programs } from '../../engines/programs.ts';
import { explaining } from '../failure.ts';
import type { VideoFacts } from '../media/facts.ts';
import { foreignInput, type Run } from '../media/source.ts';

export interface StreamEnds {
  /** Seconds that the container declares; null when it declares none. */
  readonly container: number | null;
  /** By the position among all streams of the file. */
  readonly streams: ReadonlyMap<number, StreamEnd>;
  /** Seconds inside the file where neither picture nor sound has a packet, and the file itself is damaged. */
  readonly missing: number;
}

export interface StreamEnd {
  /** What the container declares of this one stream. */
  readonly declared: number | null;
  readonly first: number;
  readonly last: LastPacket | null;
}

/** Reading 10 GiB packet by packet takes about ten seconds. */
const PACKET_CPU_SECONDS = 120;

const ENTRIES = [
  'packet=stream_index,pts_time,dts_time,duration_time',
  'stream=index,duration',
  'stream_tags=DURATION',
  'format=duration',
].join(':');

/** What demuxers say of a file; decoders speak up for much that harms nobody. */
const DAMAGE = /^\[(matroska|flv|asf)/;

/** Reads all packets once. @throws PreparationFailure when they cannot be read */
export async function readStreamEnds(
  programs: Programs,
  file: string,
  facts: VideoFacts,
  run: Run,
): Promise<StreamEnds> {
  const heard = [facts.picture, ...facts.tracks].flatMap((stream) => stream?.index ?? []);
  const reading = startReading(new Set(heard));
  // Edit lists hide packets from times, not from what the header declares.
  const options = facts.demuxer.includes('mov') ? ['-ignore_editlist', '1'] : [];
  const args = ['-v', 'error', '-show_entries', ENTRIES, '-of', 'compact', ...foreignInput(file, options)];
  let isDamaged = false;
  const onErrorLine = (line: string) => {
    isDamaged ||= DAMAGE.test(line);
  };
  const limits = { ...PROBE_LIMITS, cpuSeconds: PACKET_CPU_SECONDS };
  await explaining('the packets of the video cannot be read', () =>
    programs.run('ffprobe', args, { ...run, onLine: reading.add, onErrorLine, limits }),
  );
  const { missing, ...ends } = reading.ends();
  // Calls and recordings that were paused lack time as well, in files that are whole.
  return { ...ends, missing: isDamaged ? missing : 0 };
}

/** Packets of two streams are stored up to this far apart, in seconds. */
const SHORTEST_HOLE = 1;

/** @param heard positions of the picture and the sound */
function startReading(heard: ReadonlySet<number>) {
  const packets = new Map<number, { first: number; last: LastPacket }>();
  const declared = new Map<number, number | null>();
  let container: number | null = null;
  let missing = 0;
  let reached: number | null = null;

  const addPacket = (fields: Fields) => {
    const index = Number(fields.stream_index);
    const at = seconds(fields.pts_time) ?? seconds(fields.dts_time);
    if (at === null) return;
    const lasts = seconds(fields.duration_time) ?? 0;
    const known = packets.get(index);
    const last = known === undefined || at > known.last.at ? { at, lasts } : known.last;
    packets.set(index, { first: Math.min(at, known?.first ?? at), last });
    if (!heard.has(index)) return;
    const hole = reached === null ? 0 : at - reached;
    if (hole > SHORTEST_HOLE) missing += hole;
    reached = Math.max(reached ?? at, at + lasts);
  };

  return {
    add: (line: string): void => {
      const [section, ...fields] = line.split('|');
      const values: Fields = Object.fromEntries(fields.map((field) => splitOnce(field)));
      if (section === 'packet') addPacket(values);
      if (section === 'stream') declared.set(Number(values.index), declaredBy(values));
      if (section === 'format') container = seconds(values.duration) || null;
    },
    ends: (): StreamEnds => ({
      container,
      missing,
      streams: new Map(
        [...declared].map(([index, length]) => {
          const { first = 0, last = null } = packets.get(index) ?? {};
          return [index, { declared: length, first, last }];
        }),
      ),
    }),
  };
}

type Fields = Readonly<Record<string, string | undefined>>;

function splitOnce(field: string): [string, string] {
  const at = field.indexOf('=');
  return [field.slice(0, at), field.slice(at + 1)];
}

/** MP4, MOV and AVI declare the length of a stream in its header, Matroska in a tag such as `00:00:10.021000000`. */
function declaredBy(fields: Fields): number | null {
  const clock = /^(\d+):(\d\d):(\d\d\.\d+)$/.exec(fields['tag:DURATION'] ?? '');
  if (clock === null) return seconds(fields.duration) || null;
  const [, hours, minutes, rest] = clock;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(rest);
}
