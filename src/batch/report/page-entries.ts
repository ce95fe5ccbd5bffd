/** Which jobs belong beside each other: those that go back to one input, in one language. */
import type { EntryState } from './page-facts.ts';
import type { PageJob } from './page-source.ts';

/** An input with the jobs that were made of it, also by way of results of others. */
export interface JobGroup {
  readonly name: string;
  /** Absolute; null for an input that is no file of this machine. */
  readonly path: string | null;
  readonly language: string | null;
  readonly jobs: readonly PageJob[];
}

interface Origin {
  readonly name: string;
  readonly path: string | null;
}

/**
 * Groups jobs. One that took the result of another (a dub of a translation of a recognition) belongs to the input of the
 * first; one that took lines out of the hands of another, to the file by the name of its input; one without a language (a
 * separation) belongs to every language of its input.
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
  // A journal that was put together from others could name a circle.
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
