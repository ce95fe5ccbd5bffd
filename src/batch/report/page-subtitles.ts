/** The subtitles of an entry: in the language of the video, and translated. */
import { readFile } from 'node:fs/promises';
import { decodeSrt, SubtitleError } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { JobGroup } from './page-entries.ts';
import type { ReportSubtitle } from './page-facts.ts';
import type { MediaReaders, PageJob, ResultFile } from './page-source.ts';
import { describeFile, type MeasuredTrack } from './page-tracks.ts';

type Role = ReportSubtitle['role'];

interface Candidate {
  readonly role: Role;
  readonly language: string | null;
  readonly file: ResultFile;
}

/** Reads one subtitle for each role; a localized video gives its own track where there is no file. */
export async function readSubtitles(
  group: JobGroup,
  tracks: readonly MeasuredTrack[],
  pageFolder: string,
  readers: MediaReaders,
): Promise<ReportSubtitle[]> {
  // The newest of each role.
  const files = new Map(group.jobs.flatMap((job) => listSubtitles(job)).map((found) => [found.role, found]));
  const subtitles: ReportSubtitle[] = [];
  for (const { role, language, file } of files.values()) {
    subtitles.push({
      role,
      language,
      file: await describeFile(file, pageFolder),
      lines: await readLines(file.path),
    });
  }
  const localized = tracks.find(({ track }) => track.role === 'localized' && track.file.present);
  if (!files.has('translated') && localized !== undefined) {
    const lines = await readers.readSoftSubtitles(localized.path).catch(() => []);
    if (lines.length > 0) subtitles.push({ role: 'translated', language: group.language, file: null, lines });
  }
  return subtitles;
}

/** What a job has read and written. */
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

async function readLines(path: string): Promise<readonly SubtitleLine[]> {
  try {
    return decodeSrt(await readFile(path)).sort((left, right) => left.start_ms - right.start_ms);
  } catch (error) {
    if (error instanceof SubtitleError || (error instanceof Error && 'code' in error)) return [];
    throw error;
  }
}
