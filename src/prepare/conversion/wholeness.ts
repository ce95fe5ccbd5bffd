/**
 * Checks that a file is complete before it is converted or cut: the result of an incomplete file would look complete.
 */
import { readHead } from '../../disk/read-head.ts';
import { breaksOffAt, type LastPacket } from '../../engines/media/duration.ts';
import { PROBE_LIMITS, seconds } from '../../engines/media/header.ts';
import type { Programs } from '../../engines/programs.ts';
import { explaining, PreparationFailure } from '../failure.ts';
import type { TrackFacts, VideoFacts } from '../media/facts.ts';
import { foreignInput, type ProgramRun } from '../media/source.ts';

export interface SourceFacts {
  readonly facts: VideoFacts;
  /** The audio track that is used. */
  readonly track: TrackFacts;
}

/** For all other containers, ffmpeg computes the length from the last packets, because they declare none. */
const DECLARING = /^(mov|avi|matroska|flv|asf)/;
/** Containers whose headers declare the length of each stream. */
const BY_STREAM = /^(mov|avi)/;

/**
 * Compares the end of the packets with the declared length, with the same tolerance as the service.
 * @throws PreparationFailure MEDIA_CORRUPT if the file is truncated or has a gap
 */
export async function requireWhole(
  programs: Programs,
  file: string,
  source: SourceFacts,
  run: ProgramRun,
): Promise<void> {
  const { demuxer } = source.facts;
  if (!DECLARING.test(demuxer)) return;
  const ends = await readStreamEnds(programs, file, source.facts, run);
  const header = await readDeclaredLength(file, demuxer);
  if (BY_STREAM.test(demuxer)) requireStreams(ends, source, header);
  else requireAll({ ...ends, container: ends.container ?? header }, source);
}

/** @param shown the length of the picture, for containers where only the header declares it */
function requireStreams({ streams }: StreamEnds, { facts, track }: SourceFacts, shown: number | null): void {
  const picture = streams.get(facts.picture?.index ?? -1);
  const sound = streams.get(track.index);
  const first = Math.min(picture?.first ?? 0, sound?.first ?? 0);
  if (picture !== undefined) requireReached('picture', shown ?? picture.declared, picture.last, first);
  if (sound !== undefined) requireReached('sound', sound.declared, sound.last, first);
}

/**
 * A truncated file breaks off in all its streams at the same time. A single stream may end early: players keep showing
 * the last picture, whose length Matroska does not store.
 */
function requireAll(ends: StreamEnds, { facts }: SourceFacts): void {
  const { streams, container, missing } = ends;
  if (container === null) return;
  const heard = [facts.picture, ...facts.tracks].flatMap((stream) => streams.get(stream?.index ?? -1) ?? []);
  const isEachDeclared = heard.every(({ declared }) => declared !== null);
  // Subtitles may be shown after the last picture and count towards the length of the container.
  const judged = isEachDeclared ? heard : [...streams.values()];
  // Tags are copied from file to file: a tag that exceeds the total length belongs to another file.
  const declared = Math.min(container, isEachDeclared ? longest(heard) : container);
  const last = { at: Math.max(0, ...judged.map(endOf)), lasts: 0 };
  // Some containers count from the first packet, some from zero. Use the more tolerant value.
  const first = Math.min(0, ...judged.map((end) => end.first));
  requireReached('video', declared, last, first);
  const isHollow = breaksOffAt(declared, { at: declared - missing, lasts: 0 }, 0) !== null;
  if (isHollow) throw notWhole(`${tell(missing)} of ${tell(declared)} are missing inside the video`);
}

function longest(streams: readonly StreamEnd[]): number {
  return Math.max(...streams.map(({ declared }) => declared ?? 0));
}

function endOf({ last }: StreamEnd): number {
  return last === null ? 0 : last.at + last.lasts;
}

function requireReached(what: string, declared: number | null, last: StreamEnd['last'], first: number): void {
  const end = breaksOffAt(declared, last, first);
  if (end !== null) throw notWhole(`the ${what} breaks off at ${tell(end)} of ${tell(declared ?? 0)}`);
}

function tell(seconds: number): string {
  return `${seconds.toFixed(1)} s`;
}

function notWhole(what: string): PreparationFailure {
  const advice =
    'copy, download or export it again; if this is the only copy, `ffmpeg -i IN -c copy OUT` writes what is left of it as a complete file';
  return new PreparationFailure('MEDIA_CORRUPT', `${what}: the file is incomplete`, advice);
}

interface StreamEnds {
  /** Length that the container declares, in seconds; null if it declares none. */
  readonly container: number | null;
  /** The key is the index among all streams of the file. */
  readonly streams: ReadonlyMap<number, StreamEnd>;
  /** Seconds inside a damaged file where neither picture nor sound has a packet; 0 if the file is not damaged. */
  readonly missing: number;
}

interface StreamEnd {
  /** The length that the container declares for this stream. */
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

/** Only messages of demuxers count: decoders report many harmless errors. */
const DAMAGE = /^\[(matroska|flv|asf)/;

/** Reads all packets once. @throws PreparationFailure if they cannot be read */
async function readStreamEnds(
  programs: Programs,
  file: string,
  facts: VideoFacts,
  run: ProgramRun,
): Promise<StreamEnds> {
  const heard = [facts.picture, ...facts.tracks].flatMap((stream) => stream?.index ?? []);
  const reading = startReading(new Set(heard));
  // Edit lists remove packets from the time line, but not from the length that the header declares.
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
  // Paused calls and recordings also have gaps, but such files are complete.
  return { ...ends, missing: isDamaged ? missing : 0 };
}

/** Packets of two streams can be stored up to this many seconds apart. */
const SHORTEST_HOLE = 1;

/** @param heard indexes of the picture and audio streams */
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

/** Both formats begin with the header, and its first objects are enough. */
const HEAD_BYTES = 64 * 1024;

/**
 * Returns the length that the header of an AVI or WMV declares; null if it declares none, as in an interrupted
 * recording.
 */
export async function readDeclaredLength(file: string, demuxer: string): Promise<number | null> {
  if (demuxer !== 'avi' && demuxer !== 'asf') return null;
  const head = await readHead(file, HEAD_BYTES);
  const seconds = demuxer === 'avi' ? aviLength(head) : asfLength(head);
  return seconds !== null && seconds > 0 ? seconds : null;
}

/** `RIFF`, `AVI `, `LIST` and `hdrl` come first. Source: AVI RIFF File Reference, AVIMAINHEADER. */
const MAIN_HEADER_AT = 24;

/**
 * Number of frames times the frame length. In files above 1 GiB the header counts only the frames of the first GiB, so
 * the result is too low.
 */
function aviLength(head: Buffer): number | null {
  if (head.toString('latin1', MAIN_HEADER_AT, MAIN_HEADER_AT + 4) !== 'avih') return null;
  if (head.length < MAIN_HEADER_AT + 28) return null;
  const microseconds = head.readUInt32LE(MAIN_HEADER_AT + 8);
  const frames = head.readUInt32LE(MAIN_HEADER_AT + 24);
  return (microseconds * frames) / 1e6;
}

/** Source: ASF specification, "File Properties Object". */
const FILE_PROPERTIES = Buffer.from('a1dcab8c47a9cf118ee400c00c205365', 'hex');
const FILE_PROPERTIES_BYTES = 104;
/** This flag marks a stream that was sent while it was written. Its declared lengths are not valid. */
const BROADCAST = 1;

function asfLength(head: Buffer): number | null {
  const at = head.indexOf(FILE_PROPERTIES);
  if (at < 0 || head.length < at + FILE_PROPERTIES_BYTES) return null;
  if ((head.readUInt32LE(at + 88) & BROADCAST) !== 0) return null;
  const played = Number(head.readBigUInt64LE(at + 64)) / 1e7;
  const preroll = Number(head.readBigUInt64LE(at + 80)) / 1e3;
  return played - preroll;
}
