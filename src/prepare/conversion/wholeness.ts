/** Whether a file is whole: what is converted or cut looks whole afterwards, so nobody behind it can tell. */
import { breaksOffAt } from '../../engines/media/duration.ts';
import type { Programs } from '../../engines/programs.ts';
import { PreparationFailure } from '../failure.ts';
import type { TrackFacts, VideoFacts } from '../media/facts.ts';
import type { Run } from '../media/source.ts';
import { readDeclaredLength } from './declared-length.ts';
import { readStreamEnds, type StreamEnd, type StreamEnds } from './stream-ends.ts';

export interface SourceFacts {
  readonly facts: VideoFacts;
  /** The one that is used. */
  readonly track: TrackFacts;
}

/** Of all others ffmpeg takes the length from the last packets that there are: they declare nothing. */
const DECLARING = /^(mov|avi|matroska|flv|asf)/;
/** Each stream has its own length in their headers. */
const BY_STREAM = /^(mov|avi)/;

/**
 * Holds how far the packets reach against what the container declares, with the tolerance of the service.
 * @throws PreparationFailure MEDIA_CORRUPT for a file that breaks off, or that has a hole
 */
export async function requireWhole(
  programs: Programs,
  file: string,
  source: SourceFacts,
  run: Run,
): Promise<void> {
  const { demuxer } = source.facts;
  if (!DECLARING.test(demuxer)) return;
  const ends = await readStreamEnds(programs, file, source.facts, run);
  const header = await readDeclaredLength(file, demuxer);
  if (BY_STREAM.test(demuxer)) requireStreams(ends, source, header);
  else requireAll({ ...ends, container: ends.container ?? header }, source);
}

/** @param shown the length of the picture, where only the header itself tells it */
function requireStreams({ streams }: StreamEnds, { facts, track }: SourceFacts, shown: number | null): void {
  const picture = streams.get(facts.picture?.index ?? -1);
  const sound = streams.get(track.index);
  const first = Math.min(picture?.first ?? 0, sound?.first ?? 0);
  if (picture !== undefined) requireReached('picture', shown ?? picture.declared, picture.last, first);
  if (sound !== undefined) requireReached('sound', sound.declared, sound.last, first);
}

/**
 * A file that breaks off does so in all its streams at once. Any one of them may end early: players hold the last picture,
 * whose length Matroska does not store.
 */
function requireAll(ends: StreamEnds, { facts }: SourceFacts): void {
  const { streams, container, missing } = ends;
  if (container === null) return;
  const heard = [facts.picture, ...facts.tracks].flatMap((stream) => streams.get(stream?.index ?? -1) ?? []);
  const isEachDeclared = heard.every(({ declared }) => declared !== null);
  // Subtitles may be shown beyond the picture, and are a part of the container's length.
  const judged = isEachDeclared ? heard : [...streams.values()];
  // Tags are copied from file to file: one that exceeds the whole is that of another file.
  const declared = Math.min(container, isEachDeclared ? longest(heard) : container);
  const last = { at: Math.max(0, ...judged.map(endOf)), lasts: 0 };
  // Some count from the first packet, some from zero: the milder one holds.
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
    'copy, download or export it once more; if there is no other copy, `ffmpeg -i IN -c copy OUT` makes a file of it that declares no more';
  return new PreparationFailure('MEDIA_CORRUPT', `${what}: the file is not whole`, advice);
}
