/** What the HTML report is built from: jobs from the journal, grouped by input, and functions that read media files. */

import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { ItemCue } from './making.ts';
import type { EntryState, ReportJob, ReportSubtitle } from './page-facts.ts';
import type { Loudness } from './speech-fit.ts';

export interface PageJob extends ReportJob {
  /** Path of the input below its root, its address, or the id of its upload. */
  readonly input_name: string;
  /** Absolute; null for an input that is not a file on this machine. */
  readonly input_path: string | null;
  readonly target_language: string | null;
  /** Its subtitles besides those that it has read and written. */
  readonly subtitles: readonly PageSubtitle[];
  readonly files: readonly PageFile[];
  /** Cues that were made to fit. */
  readonly cues: readonly ItemCue[];
}

export interface PageFile {
  /** Name of the part of the result, such as `video`. */
  readonly asset: string;
  /** Absolute. */
  readonly path: string;
  readonly bytes: number | null;
  readonly sha256: string | null;
}

/** A subtitle file on this machine, of any format. */
export interface PageSubtitle {
  readonly role: ReportSubtitle['role'];
  readonly language: string | null;
  /** Absolute. */
  readonly path: string;
  /** Digest of the lines that the video speaks, see `digestLines`; null if unknown. */
  readonly spoken: string | null;
}

export interface PageSource {
  readonly title: string;
  readonly tool: string;
  readonly madeAt: string;
  /** Absolute path of the folder of the page, to which its links are relative. */
  readonly pageFolder: string;
  readonly jobs: readonly PageJob[];
}

export interface Sound {
  readonly durationMs: number;
  /** 0 to 255. */
  readonly peaks: Uint8Array;
  readonly loudness: Loudness;
}

/** Functions that read media. If one throws, the page shows the file without its content. */
export interface MediaReaders {
  readonly outlineSound: (path: string) => Promise<Sound>;
  /** Reads a subtitle file of any format. */
  readonly readSubtitleFile: (path: string) => Promise<readonly SubtitleLine[]>;
  /** Reads the subtitles inside a video; empty if there are none. */
  readonly readSoftSubtitles: (path: string) => Promise<readonly SubtitleLine[]>;
}

/** An input with its jobs, including those made from results of other jobs. */
export interface JobGroup {
  readonly name: string;
  /** Absolute; null for an input that is not a file on this machine. */
  readonly path: string | null;
  readonly language: string | null;
  readonly jobs: readonly PageJob[];
}

interface Origin {
  readonly name: string;
  readonly path: string | null;
}

/**
 * Groups jobs by input and language. A job made from the result of another (a dub of a translation of a recognition) belongs to
 * the input of the first; a job made from lines, to the file with the name of its input; a job without a language (a
 * separation), to every language of its input.
 */
export function groupJobs(jobs: readonly PageJob[]): JobGroup[] {
  const producers = new Map(jobs.flatMap((job) => job.files.map(({ path }) => [path, job] as const)));
  const paths = new Map(
    jobs.flatMap(({ input_name, input_path }) =>
      input_path === null ? [] : [[input_name, input_path] as const],
    ),
  );
  const families = new Map<string, { origin: Origin; jobs: PageJob[] }>();
  for (const job of jobs) {
    const found = findOrigin(job, producers);
    const origin = { ...found, path: found.path ?? paths.get(found.name) ?? null };
    const key = origin.path ?? origin.name;
    const family = families.get(key) ?? { origin, jobs: [] };
    family.jobs.push(job);
    families.set(key, family);
  }
  return [...families.values()].flatMap((family) => splitByLanguage(family.origin, family.jobs));
}

function findOrigin(job: PageJob, producers: ReadonlyMap<string, PageJob>): Origin {
  const seen = new Set<PageJob>();
  let first = job;
  // A journal assembled from others could contain a cycle.
  while (first.input_path !== null && !seen.has(first)) {
    seen.add(first);
    const producer = producers.get(first.input_path);
    if (producer === undefined) break;
    first = producer;
  }
  return { name: first.input_name, path: first.input_path };
}

function splitByLanguage(origin: Origin, jobs: readonly PageJob[]): JobGroup[] {
  const languages = new Set(jobs.map((job) => job.target_language).filter((language) => language !== null));
  if (languages.size === 0) return [{ ...origin, language: null, jobs }];
  return [...languages].map((language) => ({
    ...origin,
    language,
    jobs: jobs.filter((job) => job.target_language === null || job.target_language === language),
  }));
}

/** The state that needs the most attention. */
export function worstState(jobs: readonly { readonly state: EntryState }[]): EntryState {
  if (jobs.some(({ state }) => state === 'failed')) return 'failed';
  return jobs.some(({ state }) => state === 'unfinished') ? 'unfinished' : 'done';
}
