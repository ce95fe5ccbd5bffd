/** Builds the document of the page: reads what lies on the disk and puts it beside what the journal knows. */
import { rateFit } from './line-fit.ts';
import { groupJobs, type JobGroup, worstState } from './page-entries.ts';
import { type EntryDetail, REPORT_FORMAT, type ReportEntry, type ReportFacts } from './page-facts.ts';
import { readFit } from './page-fit.ts';
import type { MediaReaders, PageJob, PageSource } from './page-source.ts';
import { readSubtitles } from './page-subtitles.ts';
import { readTracks } from './page-tracks.ts';
import { sumCredits } from './sum-credits.ts';

/** One entry after the other: each runs up to five children, as many as its tracks. */
export async function buildReport(source: PageSource, readers: MediaReaders): Promise<ReportFacts> {
  const entries: ReportEntry[] = [];
  for (const group of groupJobs(source.jobs)) {
    const id = `e${entries.length + 1}`;
    entries.push(await buildEntry(id, group, source.pageFolder, readers));
  }
  return {
    format: REPORT_FORMAT,
    title: source.title,
    tool: source.tool,
    made_at: source.madeAt,
    charged_credits: chargeOf(source.jobs),
    entries,
  };
}

/** Null when the cost of a job is not known: a sum without it would be too low. */
function chargeOf(jobs: PageSource['jobs']): number | null {
  const sum = sumCredits(jobs);
  return sum === null ? 0 : sum.unknown > 0 ? null : sum.charged;
}

async function buildEntry(
  id: string,
  group: JobGroup,
  pageFolder: string,
  readers: MediaReaders,
): Promise<ReportEntry> {
  const tracks = await readTracks(group, pageFolder, readers);
  const subtitles = await readSubtitles(group, tracks, pageFolder, readers);
  const fit = readFit(group, tracks, subtitles);
  const detail: EntryDetail = { tracks: tracks.map(({ track }) => track), subtitles, fit };
  return {
    id,
    name: group.name,
    language: group.language,
    state: worstState(group.jobs),
    jobs: group.jobs.map(publicJob),
    duration_ms: duration(detail),
    misfits: countMisfits(detail),
    detail,
  };
}

/** Paths of this machine stay out of a document that is handed on; the page has relative ones. */
function publicJob({ input_name, input_path, target_language, subtitles, files, ...job }: PageJob) {
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
  return fit.lines.filter((line) => rateFit(line).grade !== 'fits').length;
}
