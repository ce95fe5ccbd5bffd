/** The sounds and pictures of an entry: the input and what was made of it. */

import { stat } from 'node:fs/promises';
import { basename, isAbsolute, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { type ReportFile, type ReportTrack, TRACK_ROLES, type TrackRole } from './page-facts.ts';
import type { JobGroup, MediaReaders, PageFile, Sound } from './page-source.ts';

/** What the media of each kind of result are to a listener. */
const ROLES: Readonly<Record<JobKind, Readonly<Record<string, TrackRole>>>> = {
  audio_separation: { vocal_audio: 'voice', background_audio: 'background' },
  subtitle_recognition: {},
  subtitle_translation: {},
  dubbing: { audio: 'dub' },
  auto_localization: { video: 'localized' },
};

/** A track, with its loudness for measuring; null when it could not be listened to. */
export interface MeasuredTrack {
  readonly track: ReportTrack;
  readonly sound: Sound | null;
  readonly path: string;
}

/** Finds and measures the tracks of a group, one for each role: the newest. */
export async function readTracks(
  group: JobGroup,
  pageFolder: string,
  readers: MediaReaders,
): Promise<MeasuredTrack[]> {
  const files = new Map<TrackRole, PageFile>();
  const takesVideo = group.jobs.some(({ kind }) => KINDS[kind].input === 'video');
  if (takesVideo && group.path !== null) {
    files.set('original', { asset: 'source', path: group.path, bytes: null, sha256: null });
  }
  for (const job of group.jobs) {
    for (const file of job.files) {
      const role = ROLES[job.kind][file.asset];
      if (role !== undefined) files.set(role, file);
    }
  }
  const present = TRACK_ROLES.flatMap((role) => {
    const file = files.get(role);
    return file === undefined ? [] : [{ role, file }];
  });
  return Promise.all(present.map(({ role, file }) => readTrack(role, file, pageFolder, readers)));
}

async function readTrack(
  role: TrackRole,
  file: PageFile,
  pageFolder: string,
  readers: MediaReaders,
): Promise<MeasuredTrack> {
  const media = role === 'original' || role === 'localized' ? 'video' : 'audio';
  const shown = await describeFile(file, pageFolder);
  // A track without an outline is still one that can be played.
  const sound = shown.present ? await readers.outlineSound(file.path).catch(() => null) : null;
  const outline = sound && {
    duration_ms: sound.durationMs,
    peaks: Buffer.from(sound.peaks).toString('base64'),
  };
  return { track: { role, media, file: shown, sound: outline }, sound, path: file.path };
}

/** A file as the page names it, with what has become of it. */
export async function describeFile(file: PageFile, pageFolder: string): Promise<ReportFile> {
  const size = await stat(file.path).then(
    (found) => found.size,
    () => null,
  );
  return {
    href: pageAddress(pageFolder, file.path),
    name: basename(file.path),
    bytes: size ?? file.bytes,
    sha256: file.sha256,
    present: size !== null,
    problem: describeProblem(file, size),
  };
}

function describeProblem(file: PageFile, size: number | null): string | null {
  if (size === null) return 'it is not there any more: moved, renamed or deleted';
  return file.bytes !== null && file.bytes !== size ? 'it was changed after the download' : null;
}

/**
 * The address of a file as a page in `folder` must write it: relative, so that folder and page can be moved together,
 * every part percent-encoded, and never read as anything but a file, whatever its name.
 */
export function pageAddress(folder: string, file: string): string {
  const path = relative(folder, file);
  // Another drive of Windows has no relative path.
  if (isAbsolute(path)) return pathToFileURL(file).href;
  return `./${path.split(sep).map(encodeURIComponent).join('/')}`;
}
