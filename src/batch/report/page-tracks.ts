/** The audio and video tracks of an entry: the input and its results. */

import { stat } from 'node:fs/promises';
import { basename, isAbsolute, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { type ReportFile, type ReportTrack, TRACK_ROLES, type TrackRole } from './page-facts.ts';
import type { JobGroup, MediaReaders, PageFile, Sound } from './page-source.ts';

/** The roles of the media files of each kind. */
const ROLES: Readonly<Record<JobKind, Readonly<Record<string, TrackRole>>>> = {
  audio_separation: { vocal_audio: 'voice', background_audio: 'background' },
  subtitle_recognition: {},
  subtitle_translation: {},
  dubbing: { audio: 'dub' },
  auto_localization: { video: 'localized' },
};

/** A track with its loudness; `sound` is null if it could not be decoded. */
export interface MeasuredTrack {
  readonly track: ReportTrack;
  readonly sound: Sound | null;
  readonly path: string;
}

/** Finds and measures the newest track of each role of a group. */
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
  // A track without an outline can still be played.
  const sound = shown.present ? await readers.outlineSound(file.path).catch(() => null) : null;
  const outline = sound && {
    duration_ms: sound.durationMs,
    peaks: Buffer.from(sound.peaks).toString('base64'),
  };
  return { track: { role, media, file: shown, sound: outline }, sound, path: file.path };
}

/** The facts about a file for the page, including whether it was changed or is missing. */
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
  if (size === null) return 'it no longer exists: moved, renamed or deleted';
  return file.bytes !== null && file.bytes !== size ? 'it was changed after the download' : null;
}

/**
 * The address of a file for links of a page in `folder`: relative, so that page and files can be moved together, each part
 * percent-encoded, so that no file name is read as another kind of address.
 */
export function pageAddress(folder: string, file: string): string {
  const path = relative(folder, file);
  // There is no relative path to another drive on Windows.
  if (isAbsolute(path)) return pathToFileURL(file).href;
  return `./${path.split(sep).map(encodeURIComponent).join('/')}`;
}
