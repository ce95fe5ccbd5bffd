/** Adds tracks of its source to a finished video: the original sound, and subtitles. Picture and sound are copied. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatSrt } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { mixUnplaced } from '../audio/mix-down.ts';
import { keepTags } from '../encode/encoders.ts';
import { readFacts, type SubtitleTrackFacts, type TrackFacts, type VideoFacts } from '../probe/facts.ts';
import {
  convertibleInput,
  ENCODER_LIMITS,
  fileAddress,
  ownInput,
  QUIET,
  untrustedInput,
} from '../programs/arguments.ts';
import { explainFailures, PreparationFailure } from '../programs/failures.ts';
import type { Programs } from '../programs/programs.ts';
import type { EngineRun } from '../work.ts';
import { canCopySound } from './convert.ts';
import { softLines, threeLetterCode } from './export.ts';

/** Paths are local files. Languages are BCP 47 tags; null if unknown. */
export interface AddTracksTask {
  /** The finished video. */
  readonly video: string;
  readonly source: string;
  /** The audio track of the source to add, from 1; null for none. */
  readonly track: number | null;
  /** Its language, where the source does not state it. */
  readonly language: string | null;
  /** Whether players start with that track; missing for no. */
  readonly isFirst?: boolean | undefined;
  /** Whether to add the subtitle tracks of the source. */
  readonly subtitles: boolean;
  /** Subtitles in the spoken language to add; null for none. */
  readonly lines: { readonly language: string | null; readonly lines: readonly SubtitleLine[] } | null;
}

interface AddedTracks {
  /** In the work folder. */
  readonly path: string;
  /** Tracks that could not be added, for the user. */
  readonly notes: readonly string[];
}

/** Subtitles that MP4 can hold as text. Those of discs are pictures. */
const TEXT_SUBTITLES = new Set(['mov_text', 'subrip', 'text', 'ass', 'ssa', 'webvtt']);
/** Transparent quality. */
const AAC_PER_CHANNEL = 96;
const LINES_FILE = 'original.srt';

/**
 * Writes the video with the added tracks into the work folder. They follow its own tracks, unless the sound comes first, and are
 * not played unless chosen; nothing in the other tracks changes.
 * @throws PreparationFailure
 */
export function addTracks(programs: Programs, task: AddTracksTask, work: EngineRun): Promise<AddedTracks> {
  return explainFailures('the tracks of the original cannot be added', async () => {
    const video = await readFacts(programs, task.video, work);
    const source = await readFacts(programs, task.source, work);
    const track = chooseTrack(source, task.track);
    const wanted = task.subtitles ? source.subtitles : [];
    const texts = wanted.filter(({ codec }) => TEXT_SUBTITLES.has(codec));
    const seconds = video.durationSeconds ?? 0;
    const lines = softLines(task.lines?.lines ?? [], seconds);
    if (lines.length > 0) await writeFile(join(work.folder, LINES_FILE), formatSrt(lines));
    const path = join(work.folder, 'with-tracks.mp4');
    const args = [
      ...QUIET,
      ...untrustedInput(task.video),
      // Tracks that are longer than the picture would make the video longer.
      ...convertibleInput(task.source, ['-t', String(seconds)]),
      ...(lines.length > 0 ? ownInput(join(work.folder, LINES_FILE), 'srt') : []),
      ...['-c', 'copy', '-map_chapters', '0', ...keepTags(), '-map', '0:v'],
      ...(track === null ? ['-map', '0:a?'] : soundArguments(video, source, track, task)),
      ...['-map', '0:s?'],
      ...texts.flatMap((text, at) => textArguments(`1:${text.index}`, video.subtitles.length + at, text)),
      ...(lines.length > 0
        ? textArguments('2:s:0', video.subtitles.length + texts.length, {
            codec: 'subrip',
            language: codeOf(task.lines?.language ?? null),
          })
        : []),
      ...['-movflags', '+faststart', '-f', 'mp4', fileAddress(path)],
      ...clockArguments(source, track),
    ];
    await programs.run('ffmpeg', args, { ...work, limits: ENCODER_LIMITS });
    const added = { tracks: track === null ? 0 : 1, subtitles: texts.length + (lines.length > 0 ? 1 : 0) };
    requireTracks(await readFacts(programs, path, work), video, added);
    return { path, notes: describeMissing(task, wanted.length - texts.length, added.subtitles) };
  });
}

function chooseTrack({ tracks, name }: VideoFacts, wanted: number | null): TrackFacts | null {
  if (wanted === null) return null;
  const track = tracks.find(({ number }) => number === wanted);
  if (track !== undefined) return track;
  const message = `${name} has no audio track ${wanted}`;
  throw new PreparationFailure('NO_SUCH_TRACK', message, 'restore the file that was localized');
}

/**
 * A second output that keeps nothing. Of a transport stream, ffmpeg starts the clock at the first packet of the tracks that it
 * uses, so sound that begins after the picture would come too early if it were the only one.
 */
function clockArguments({ picture, tracks }: VideoFacts, track: TrackFacts | null): string[] {
  const used = [picture, track ?? tracks[0]].flatMap((stream) => (stream == null ? [] : [stream.index]));
  return [...used.flatMap((index) => ['-map', `1:${index}`]), '-c', 'copy', '-f', 'null', '-'];
}

function codeOf(language: string | null): string | null {
  return language === null ? null : threeLetterCode(language);
}

function soundArguments(
  { tracks }: VideoFacts,
  source: VideoFacts,
  kept: TrackFacts,
  { language: known, isFirst = false }: AddTracksTask,
): string[] {
  const { index, codec, channels, language, title } = kept;
  const at = isFirst ? 0 : tracks.length;
  const own = ['-map', '0:a?'];
  const mixing = mixUnplaced(kept);
  const encoding = canCopySound(source, codec)
    ? ['copy']
    : [
        ...['aac', `-b:a:${at}`, `${AAC_PER_CHANNEL * (mixing.length > 0 ? 2 : channels)}k`],
        ...(mixing.length > 0 ? [`-filter:a:${at}`, mixing.join(',')] : []),
      ];
  return [
    ...(isFirst ? [] : own),
    ...['-map', `1:${index}`, `-c:a:${at}`, ...encoding],
    ...(isFirst ? own : []),
    ...[...tracks, kept].flatMap((_, each) => [`-disposition:a:${each}`, each === 0 ? 'default' : '0']),
    ...[`-metadata:s:a:${at}`, `language=${language ?? codeOf(known) ?? 'und'}`],
    // Players show either of the two.
    ...['title', 'handler_name'].flatMap((name) => [`-metadata:s:a:${at}`, `${name}=${title ?? 'Original'}`]),
  ];
}

function textArguments(
  stream: string,
  at: number,
  { codec, language }: Omit<SubtitleTrackFacts, 'index'>,
): string[] {
  return [
    ...['-map', stream, `-c:s:${at}`, codec === 'mov_text' ? 'copy' : 'mov_text'],
    ...[`-disposition:s:${at}`, '0', `-metadata:s:s:${at}`, `language=${language ?? 'und'}`],
  ];
}

/** ffmpeg succeeds even if it could write no packet of a stream. */
function requireTracks(
  written: VideoFacts,
  before: VideoFacts,
  added: { readonly tracks: number; readonly subtitles: number },
): void {
  const isWhole =
    written.tracks.length === before.tracks.length + added.tracks &&
    written.subtitles.length === before.subtitles.length + added.subtitles;
  if (isWhole) return;
  const message = 'the video with the tracks of the original lacks one of them';
  throw new PreparationFailure('PROGRAM_FAILED', message, 'play the original to see whether it is complete');
}

function describeMissing({ subtitles }: AddTracksTask, pictures: number, added: number): string[] {
  if (!subtitles) return [];
  if (pictures > 0) return [`${pictures} of its subtitle tracks are pictures, which an MP4 cannot contain`];
  return added === 0 ? ['it has no subtitle tracks to keep'] : [];
}
