/** Puts the languages of a video into one file: a sound track and the subtitles of each. Nothing is encoded. */

import { join } from 'node:path';
import { languageName } from '../../protocol/language-tag.ts';
import { keepTags } from '../encode/encoders.ts';
import { readFacts, type VideoFacts } from '../probe/facts.ts';
import { ENCODER_LIMITS, fileAddress, QUIET, untrustedInput } from '../programs/arguments.ts';
import { explainFailures, PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';
import { threeLetterCode } from './export.ts';
import { commentTags, joinMarks, readComment, readMark } from './mark.ts';

/** A finished video in one language. */
interface LanguageVideo {
  readonly path: string;
  /** BCP 47 tag. */
  readonly language: string;
}

/**
 * Writes an MP4 with the picture of the first video and the tracks of all, in their order, into the work folder. Players start with
 * the first of each kind: without one that is marked, ffmpeg marks it.
 * @param isOneSound whether all have the same sound, of which one track is enough
 * @returns its path
 * @throws PreparationFailure
 */
export function joinLanguages(
  programs: Programs,
  videos: readonly LanguageVideo[],
  isOneSound: boolean,
  work: EngineRun,
): Promise<string> {
  return explainFailures('the languages cannot be put into one file', async () => {
    const known = await Promise.all(videos.map(({ path }) => readFacts(programs, path, work)));
    const comments = await Promise.all(
      videos.map(async (video) => (await readComment(programs, video.path, work)) ?? ''),
    );
    const heard = isOneSound ? known.slice(0, 1) : known;
    const sounds = heard.map((facts, at) => ({ at, stream: soundOf(facts), language: videos[at]?.language }));
    const subtitles = known.flatMap((facts, at) =>
      facts.subtitles.map(({ index }) => ({ at, stream: index, language: videos[at]?.language })),
    );
    const path = join(work.folder, 'languages.mp4');
    const args = [
      ...QUIET,
      ...videos.flatMap((video) => untrustedInput(video.path)),
      ...['-c', 'copy', '-map_chapters', '0', ...keepTags(), '-map', '0:v'],
      // That of the first language says nothing of the others.
      ...commentTags(joinMarks(comments.map(readMark)), comments[0] ?? ''),
      ...sounds.flatMap(({ at, stream, language }, place) => [
        ...['-map', `${at}:${stream}`, `-disposition:a:${place}`, place === 0 ? 'default' : '0'],
        ...(isOneSound ? [] : describeTrack(`a:${place}`, language)),
      ]),
      ...subtitles.flatMap(({ at, stream, language }, place) => [
        ...['-map', `${at}:${stream}`, `-disposition:s:${place}`, place === 0 ? 'default' : '0'],
        ...describeTrack(`s:${place}`, language),
      ]),
      ...['-movflags', '+faststart', '-f', 'mp4', fileAddress(path)],
    ];
    await programs.run('ffmpeg', args, { ...work, limits: ENCODER_LIMITS });
    requireTracks(await readFacts(programs, path, work), sounds.length, subtitles.length);
    return path;
  });
}

function soundOf({ tracks: [first], name }: VideoFacts): number {
  if (first !== undefined) return first.index;
  const message = `${name} has no sound`;
  throw new PreparationFailure('NO_SUCH_TRACK', message, 'remove it, so that it is fetched or made again');
}

/** Players show either the title or the name of the handler. */
function describeTrack(track: string, language = 'und'): string[] {
  const names = ['title', 'handler_name'].map((name) => `${name}=${languageName(language)}`);
  const tags = [`language=${threeLetterCode(language)}`, ...names];
  return tags.flatMap((tag) => [`-metadata:s:${track}`, tag]);
}

/** ffmpeg succeeds even if it could write no packet of a stream. */
function requireTracks({ tracks, subtitles }: VideoFacts, sounds: number, texts: number): void {
  if (tracks.length === sounds && subtitles.length === texts) return;
  const message = 'the file with all languages lacks one of their tracks';
  throw new PreparationFailure('PROGRAM_FAILED', message, 'play the results of the single languages');
}
