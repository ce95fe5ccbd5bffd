/** The original and translated subtitles of an entry. */

import { digestLines } from '../stages/items.ts';
import type { ReportFile, ReportSubtitle } from './page-facts.ts';
import type { JobGroup, MediaReaders, PageFile, PageJob } from './page-source.ts';
import { describeFile, type MeasuredTrack } from './page-tracks.ts';

type Role = ReportSubtitle['role'];

interface Candidate {
  readonly role: Role;
  readonly language: string | null;
  readonly file: PageFile;
}

/** Reads one subtitle for each role. Without a file, the subtitle track of the localized video is used. */
export async function readSubtitles(
  group: JobGroup,
  tracks: readonly MeasuredTrack[],
  pageFolder: string,
  readers: MediaReaders,
): Promise<ReportSubtitle[]> {
  const files = await chooseFiles(group, pageFolder);
  const subtitles: ReportSubtitle[] = [];
  const spoken = spokenDigest(group);
  for (const [role, { language, path, shown }] of files) {
    // A file that cannot be read is still listed.
    const lines = shown.present ? await readers.readSubtitleFile(path).catch(() => []) : [];
    const inOrder = lines.toSorted((left, right) => left.start_ms - right.start_ms);
    const isJudged = role === 'translated' && spoken !== null && lines.length > 0;
    const is_unspoken = isJudged && digestLines(lines) !== spoken;
    subtitles.push({ role, language, file: shown, lines: inOrder, is_unspoken });
  }
  const localized = tracks.find(({ track }) => track.role === 'localized' && track.file.present);
  if (!files.has('translated') && localized !== undefined) {
    const lines = await readers.readSoftSubtitles(localized.path).catch(() => []);
    const soft = { role: 'translated', language: group.language, file: null, is_unspoken: false } as const;
    if (lines.length > 0) subtitles.push({ ...soft, lines });
  }
  return subtitles;
}

/** Digest of the lines that the newest video speaks. */
function spokenDigest({ jobs }: JobGroup): string | null {
  return jobs.flatMap(({ subtitles }) => subtitles.flatMap(({ spoken }) => spoken ?? [])).at(-1) ?? null;
}

interface ChosenFile extends Pick<Candidate, 'language'> {
  readonly path: string;
  readonly shown: ReportFile;
}

/** The newest existing file of each role, else the newest. */
async function chooseFiles({ jobs }: JobGroup, pageFolder: string): Promise<ReadonlyMap<Role, ChosenFile>> {
  const chosen = new Map<Role, ChosenFile>();
  const all = [...jobs.flatMap(listSubtitles), ...inOrderOfMaking(jobs).flatMap(listLeft)];
  for (const { role, language, file } of all) {
    const shown = await describeFile(file, pageFolder);
    const before = chosen.get(role);
    if (!shown.present && before !== undefined) continue;
    chosen.set(role, { language: language ?? before?.language ?? null, path: file.path, shown });
  }
  return chosen;
}

/** Jobs of finished videos come last, so that their subtitles take precedence over those of the stages. */
function inOrderOfMaking(jobs: readonly PageJob[]): readonly PageJob[] {
  const isFinished = ({ kind }: PageJob) => kind === 'auto_localization';
  return [...jobs.filter((job) => !isFinished(job)), ...jobs.filter(isFinished)];
}

/** Subtitles that users may have edited or supplied. */
function listLeft({ subtitles }: PageJob): Candidate[] {
  return subtitles.map(({ path, spoken, ...rest }) => ({
    ...rest,
    file: { asset: 'subtitle', path, bytes: null, sha256: null },
  }));
}

/** Subtitles that a job has read and written. */
function listSubtitles(job: PageJob): Candidate[] {
  const input = { asset: 'source', path: job.input_path ?? '', bytes: null, sha256: null };
  const taken = job.input_path === null ? [] : [input];
  const language = job.target_language;
  switch (job.kind) {
    case 'subtitle_recognition':
      return job.files.map((file) => ({ role: 'original', language: null, file }));
    case 'subtitle_translation':
      return [
        ...taken.map((file) => ({ role: 'original' as const, language: null, file })),
        ...job.files.map((file) => ({ role: 'translated' as const, language, file })),
      ];
    case 'dubbing':
      return taken.map((file) => ({ role: 'translated', language, file }));
    default:
      return [];
  }
}
