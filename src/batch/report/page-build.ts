/** Builds the facts of the HTML report, subtitles included, from the journal and from the files on the disk. */

import { stat } from 'node:fs/promises';
import { basename, isAbsolute, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { slashed } from '../../base/relative-name.ts';
import { isCalledSound } from '../../base/sound-formats.ts';
import type { SpokenPart } from '../../media/subtitles/utterances.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { digestLines } from '../inputs/stage-items.ts';
import { describeCuts } from '../item-provenance.ts';
import { describeItemCosts } from './costs.ts';
import { buildPlaces, createTextFiles, type TextFiles, type TextOwner } from './page-attention.ts';
import {
  type EntryDetail,
  type LineFit,
  type ReportEntry,
  type ReportFacts,
  type ReportFile,
  type ReportFit,
  type ReportSubtitle,
  type ReportTrack,
  TRACK_ROLES,
  type TrackRole,
} from './page-facts.ts';
import {
  groupJobs,
  type JobGroup,
  type MediaReaders,
  type PageFile,
  type PageJob,
  type PageSource,
  type PathOf,
  type Sound,
  worstState,
} from './page-jobs.ts';
import { measureFit, measureMixedFit, rateFit } from './speech-fit.ts';

/** Builds entries one after the other: each runs up to five child processes, one for each track. */
export async function buildReport(source: PageSource, readers: MediaReaders): Promise<ReportFacts> {
  const entries: ReportEntry[] = [];
  const { pathOf, commands } = source;
  const files = createTextFiles(source);
  for (const group of groupJobs(source.jobs)) {
    const id = `e${entries.length + 1}`;
    entries.push(await buildEntry(id, group, { pathOf, files, isActive: commands !== null }, readers));
  }
  return {
    places: await buildPlaces(source.attention ?? [], files),
    files: files.all,
    run_in: commands && (pathOf(commands.runIn) || '.'),
    title: source.title,
    made_at: source.madeAt,
    attributions: source.attributions ?? [],
    cost: describeItemCosts(source.jobs),
    entries,
  };
}

/** The paths of files from the page, and the files that it can edit. */
interface PagePlacement {
  readonly pathOf: PathOf;
  readonly files: TextFiles;
  /** Whether its readers can run commands. */
  readonly isActive: boolean;
}

async function buildEntry(
  id: string,
  group: JobGroup,
  place: PagePlacement,
  readers: MediaReaders,
): Promise<ReportEntry> {
  const tracks = await readTracks(group, place.pathOf, readers);
  const subtitles = await readSubtitles(id, group, tracks, place, readers);
  const fit = await readFit(group, tracks, subtitles, place);
  // The newest speech counts, which is a dub or a localization.
  const spoken = group.jobs.findLast(({ engines }) => engines.some(({ step }) => step === 'speak'));
  const cues = spoken?.cues ?? [];
  const shown = tracks.flatMap(({ track }) => track ?? []);
  const detail: EntryDetail = { tracks: shown, subtitles, fit, cues };
  return {
    id,
    name: group.name,
    language: group.language,
    variant: group.variant,
    state: worstState(group.jobs),
    jobs: group.jobs.map(publicJob),
    duration_ms: duration(detail),
    misfits: countMisfits(detail),
    cuts: describeCuts({ engines: [], cues }),
    losses: group.jobs.flatMap(({ losses }) => losses),
    detail,
  };
}

/** Removes absolute paths, since users share the page. */
function publicJob({
  input_name,
  input_path,
  target_language,
  subtitles,
  files,
  cues,
  losses,
  owner,
  ...job
}: PageJob) {
  return job;
}

function duration({ tracks, subtitles }: EntryDetail): number | null {
  const lengths = [
    ...tracks.flatMap(({ sound }) => (sound === null ? [] : [sound.duration_ms])),
    ...subtitles.flatMap(({ lines }) => lines.map((line) => line.end_ms)),
  ];
  return lengths.length === 0 ? null : lengths.reduce((left, right) => Math.max(left, right));
}

function countMisfits({ fit }: EntryDetail): number | null {
  if (fit.measured_on === null) return null;
  const grades = fit.lines.map((line) => rateFit(line).grade);
  return grades.filter((grade) => grade === 'over' || grade === 'silent').length;
}

/** Why something is unknown, and what to do about it on a page with commands. */
type Reason = readonly [why: string, remedy: string];

const UNSPOKEN: Reason = [
  'the translation changed after the video was made, so its voice speaks an earlier text',
  'run the same command again to update it',
];

/** Measures how the dub fits its lines; without a dub, how the original voice fits the original lines. */
async function readFit(
  group: JobGroup,
  tracks: readonly MeasuredTrack[],
  subtitles: readonly ReportSubtitle[],
  { isActive }: PagePlacement,
): Promise<ReportFit> {
  const unknown = ([why, remedy]: Reason) =>
    ({ measured_on: null, reason: isActive && remedy !== '' ? `${why}; ${remedy}` : why }) as const;
  const linesOf = (role: ReportSubtitle['role']) =>
    subtitles.find((found) => found.role === role)?.lines ?? [];
  if (subtitles.some(({ is_unspoken: isUnspoken }) => isUnspoken)) return unknown(UNSPOKEN);
  const translated = linesOf('translated');
  const original = linesOf('original');
  if (translated.length + original.length === 0) return unknown(explainNoLines(group));
  const { groupUtterances } = await import('../../media/subtitles/utterances.ts');
  const sound = (role: TrackRole) => tracks.find((track) => track.role === role)?.sound ?? null;
  const candidates = [
    { role: 'dub', lines: translated },
    // If the original sound is muted, the video has only the dub.
    ...(hasDubAlone(group) ? [{ role: 'localized', lines: translated } as const] : []),
    ...(translated.length === 0 ? [{ role: 'voice', lines: original } as const] : []),
  ] as const;
  for (const { role, lines } of candidates) {
    const heard = sound(role);
    if (heard !== null && lines.length > 0) {
      const measure = (texts: readonly SubtitleLine[]) => measureFit(texts, heard.loudness);
      return {
        measured_on: role,
        lines:
          role === 'voice'
            ? measureFit(lines, heard.loudness)
            : fitSentences(groupUtterances(lines), measure),
      };
    }
  }
  const mixed = sound('localized');
  if (mixed !== null && translated.length > 0) {
    const measure = (texts: readonly SubtitleLine[]) => measureMixedFit(texts, mixed.loudness);
    return { measured_on: 'localized', lines: fitSentences(groupUtterances(translated), measure) };
  }
  return unknown(
    translated.length > 0
      ? ['no dub', 'create one with vloc dub']
      : ['no track with the voice alone', 'create one with vloc separate'],
  );
}

/** The fit of each cue is that of its sentence, which is spoken as one. */
function fitSentences(
  sentences: readonly (readonly SpokenPart[])[],
  measure: (texts: readonly SubtitleLine[]) => readonly LineFit[],
): LineFit[] {
  const texts = sentences.map((parts) => ({
    indexes: parts.flatMap(({ indexes }) => indexes),
    startMs: parts[0]?.startMs ?? 0,
    endMs: parts.at(-1)?.endMs ?? 0,
  }));
  const fits = measure(
    texts.map(({ startMs, endMs }, at) => ({ index: at, start_ms: startMs, end_ms: endMs, text: '' })),
  );
  return fits.flatMap((fit) => texts[fit.index]?.indexes.map((index) => ({ ...fit, index })) ?? []);
}

function explainNoLines({ jobs }: JobGroup): Reason {
  const isOneJob = jobs.some(({ kind, state }) => kind === 'auto_localization' && state === 'done');
  return isOneJob
    ? [
        'this job returns subtitles only inside its video',
        'run it with --subtitle-output soft to see them here',
      ]
    : ['no subtitles', ''];
}

function hasDubAlone(group: JobGroup): boolean {
  const localizations = group.jobs.filter(({ kind }) => kind === 'auto_localization');
  return localizations.at(-1)?.options.original_audio === 'mute';
}

type Role = ReportSubtitle['role'];

interface Candidate {
  readonly role: Role;
  readonly language: string | null;
  readonly file: PageFile;
  readonly owner: TextOwner;
}

/** Reads one subtitle for each role. Without a file, the subtitle track of the localized video is used. */
async function readSubtitles(
  id: string,
  group: JobGroup,
  tracks: readonly MeasuredTrack[],
  { pathOf, files: texts }: PagePlacement,
  readers: MediaReaders,
): Promise<ReportSubtitle[]> {
  const files = await chooseFiles(group);
  const subtitles: ReportSubtitle[] = [];
  const spoken = spokenDigest(group);
  for (const [role, { language, file, owner }] of files) {
    const { path } = file;
    const shown = await describeFile(file, pathOf(path) ?? basename(path));
    // A file that cannot be read is still listed.
    const lines = shown.present ? await readers.readSubtitleFile(path).catch(() => []) : [];
    const inOrder = lines.toSorted((left, right) => left.start_ms - right.start_ms);
    const isJudged = role === 'translated' && spoken !== null && lines.length > 0;
    const is_unspoken = isJudged && digestLines(lines) !== spoken;
    const { at, cues } = await texts.open({ file: path, language: group.language, owner }, id);
    const places = Map.groupBy(cues, identityOf);
    const edit = {
      file: at,
      places: inOrder.map((line) => places.get(identityOf(line))?.shift()?.edit ?? null),
    };
    subtitles.push({ role, language, file: shown, lines: inOrder, edit, is_unspoken });
  }
  const localized = tracks.find(({ role, track }) => role === 'localized' && track?.file.present);
  if (!files.has('translated') && localized !== undefined) {
    const lines = await readers.readSoftSubtitles(localized.path).catch(() => []);
    const soft = {
      role: 'translated',
      language: group.language,
      file: null,
      edit: null,
      is_unspoken: false,
    } as const;
    if (lines.length > 0) subtitles.push({ ...soft, lines });
  }
  return subtitles;
}

/** A line and its cue in the file have the same. */
function identityOf({ start_ms, end_ms, text }: Pick<SubtitleLine, 'start_ms' | 'end_ms' | 'text'>): string {
  return `${start_ms} ${end_ms} ${text}`;
}

/** Digest of the lines that the newest video speaks. */
function spokenDigest({ jobs }: JobGroup): string | null {
  return jobs.flatMap(({ subtitles }) => subtitles.flatMap(({ spoken }) => spoken ?? [])).at(-1) ?? null;
}

/** The newest existing file of each role, else the newest. */
async function chooseFiles({ jobs }: JobGroup): Promise<ReadonlyMap<Role, Candidate>> {
  const chosen = new Map<Role, Candidate>();
  const all = [...jobs.flatMap(listSubtitles), ...inOrderOfMaking(jobs).flatMap(listLeft)];
  for (const candidate of all) {
    const before = chosen.get(candidate.role);
    if (before !== undefined && (await sizeOf(candidate.file)) === null) continue;
    chosen.set(candidate.role, { ...candidate, language: candidate.language ?? before?.language ?? null });
  }
  return chosen;
}

/** Jobs of finished videos come last, so that their subtitles take precedence over those of the stages. */
function inOrderOfMaking(jobs: readonly PageJob[]): readonly PageJob[] {
  const isFinished = ({ kind }: PageJob) => kind === 'auto_localization';
  return [...jobs.filter((job) => !isFinished(job)), ...jobs.filter(isFinished)];
}

/** Subtitles that users may have edited or supplied. */
function listLeft({ subtitles, owner }: PageJob): Candidate[] {
  return subtitles.map(({ path, spoken, ...rest }) => ({
    ...rest,
    owner,
    file: { asset: 'subtitle', path, bytes: null, sha256: null },
  }));
}

/** Subtitles that a job has read and written. */
function listSubtitles(job: PageJob): Candidate[] {
  const input = { asset: 'source', path: job.input_path ?? '', bytes: null, sha256: null };
  const taken = job.input_path === null ? [] : [input];
  const { target_language: language, owner } = job;
  switch (job.kind) {
    case 'subtitle_recognition':
      return job.files.map((file) => ({ role: 'original', language: null, file, owner }));
    case 'subtitle_translation':
      return [
        ...taken.map((file) => ({ role: 'original' as const, language: null, file, owner })),
        ...job.files.map((file) => ({ role: 'translated' as const, language, file, owner })),
      ];
    case 'dubbing':
      return taken.map((file) => ({ role: 'translated', language, file, owner }));
    default:
      return [];
  }
}

/** The roles of the media files of each kind. */
const ROLES: Readonly<Record<JobKind, Readonly<Record<string, TrackRole>>>> = {
  audio_separation: { vocal_audio: 'voice', background_audio: 'background' },
  subtitle_recognition: {},
  subtitle_translation: {},
  dubbing: { audio: 'dub' },
  auto_localization: { video: 'localized' },
};

/** A track with its loudness; `sound` is null if it could not be decoded, `track` if readers of the page do not have its file. */
interface MeasuredTrack {
  readonly role: TrackRole;
  readonly track: ReportTrack | null;
  readonly sound: Sound | null;
  readonly path: string;
}

/** Finds and measures the newest track of each role of a group. */
async function readTracks(group: JobGroup, pathOf: PathOf, readers: MediaReaders): Promise<MeasuredTrack[]> {
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
  return Promise.all(present.map(({ role, file }) => readTrack(role, file, pathOf, readers)));
}

async function readTrack(
  role: TrackRole,
  file: PageFile,
  pathOf: PathOf,
  readers: MediaReaders,
): Promise<MeasuredTrack> {
  const isShown = (role === 'original' || role === 'localized') && !isCalledSound(file.path);
  const media = isShown ? 'video' : 'audio';
  const path = pathOf(file.path);
  const isThere = (await sizeOf(file)) !== null;
  // A track without an outline can still be played.
  const sound = isThere ? await readers.outlineSound(file.path).catch(() => null) : null;
  const outline = sound && {
    duration_ms: sound.durationMs,
    peaks: Buffer.from(sound.peaks).toString('base64'),
  };
  const track: ReportTrack | null =
    path === null ? null : { role, media, file: await describeFile(file, path), sound: outline };
  return { role, track, sound, path: file.path };
}

/** The facts about a file for the page, including whether it was changed or is missing. */
async function describeFile(file: PageFile, path: string): Promise<ReportFile> {
  const size = await sizeOf(file);
  return {
    href: pageAddress(path),
    name: basename(path),
    bytes: size ?? file.bytes,
    sha256: file.sha256,
    present: size !== null,
    problem: describeProblem(file, size),
  };
}

/** In bytes; null for a file that is not there. */
function sizeOf({ path }: PageFile): Promise<number | null> {
  return stat(path).then(
    ({ size }) => size,
    () => null,
  );
}

function describeProblem(file: PageFile, size: number | null): string | null {
  if (size === null) return 'it no longer exists: moved, renamed or deleted';
  return file.bytes !== null && file.bytes !== size ? 'it was changed after the download' : null;
}

/** The path of a file from a page in `folder`, `/` between folders: relative, so that page and files can be moved together. */
export const pathFrom =
  (folder: string) =>
  (file: string): string =>
    slashed(relative(folder, file));

/** The address of a path for links: each part percent-encoded, so that no file name is read as another kind of address. */
export function pageAddress(path: string): string {
  // There is no relative path to another drive on Windows.
  if (isAbsolute(path)) return pathToFileURL(path).href;
  return `./${path.split('/').map(encodeURIComponent).join('/')}`;
}
