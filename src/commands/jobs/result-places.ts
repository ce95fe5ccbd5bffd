/**
 * Names the results of `jobs wait` and `jobs download` as the run that made the job would, if this machine has a record of it.
 * --out and --name take precedence over the record.
 */
import { resolve } from 'node:path';
import { Failure } from '../../base/failure.ts';
import { foldName } from '../../base/find-input.ts';
import { foundLanguage } from '../../batch/deliver/deliver-results.ts';
import { type ResultNaming, resultFiles } from '../../batch/deliver/download-results.ts';
import { type Delivery, findClashes, type SourceSubtitle, templateFor } from '../../batch/plan/delivery.ts';
import type { InputProblem } from '../../batch/plan/input.ts';
import { askedLanguage, assetPaths, nameLanguage } from '../../batch/plan/result-name.ts';
import type { JobEntry } from '../../batch/records/job-record.ts';
import type { Job } from '../../client/index.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import { isTerminal } from '../../protocol/states.ts';
import { SUBTITLE_FORMATS } from '../../protocol/subtitle-line.ts';
import { createSubtitleIo } from './subtitles.ts';

/** Text for the help of these commands. */
export const RESULT_NAMES_NOTE =
  'Results of jobs created on this machine get the folder, name and format of their run; --out and --name override ' +
  'these. Other results, and those that a newer job would replace, are named by job id. INPUT is the file that the job ' +
  'was created from on this machine, else the id.';

/** Returns the folder and name for the results of a job. */
export type NamingOf = (job: Job) => ResultNaming;

/**
 * @param jobs recorded on this machine, newest first
 * @param delivery as the options ask for it
 */
export function createNaming(jobs: readonly JobEntry[], delivery: Delivery): NamingOf {
  const entries = new Map(jobs.map((entry) => [entry.id, entry]));
  const replaced = findReplaced(jobs);
  return (job) => {
    const found = foundLanguage(job);
    const entry = entries.get(job.id);
    const naming = entry?.naming;
    if (entry === undefined || naming === undefined) {
      // Jobs of other machines are named by their id, which is unique.
      return { stem: job.id, asked: askedLanguage(job.object, job.input), found, delivery };
    }
    const stem = replaced.has(job.id) ? job.id : naming.stem;
    const root = delivery.isFolderGiven === true ? delivery.folder : (entry.output_folder ?? delivery.folder);
    const isPlaceGiven = delivery.isFolderGiven === true && delivery.template !== '';
    const folder = isPlaceGiven ? root : resolve(root, naming.folder);
    const rewrite =
      naming.format === null
        ? undefined
        : createSubtitleIo().rewriteSubtitle(naming.format, sourceOf(entry, naming));
    const template = delivery.template || naming.template;
    // The template of a run already has the extension of another format.
    const own =
      rewrite === undefined
        ? { template }
        : { template: template.replaceAll('{ext}', `.${rewrite.format}`), rewrite };
    const keep = delivery.isAsIs === true ? undefined : naming.keep;
    return { stem, asked: naming.language, found, delivery: { ...delivery, folder, ...own }, keep };
  };
}

/** The subtitles that a job has translated, if its result has their form. */
function sourceOf(
  { input_files: [path] = [] }: JobEntry,
  { format, sourceSha256: sha256 }: NonNullable<JobEntry['naming']>,
): SourceSubtitle | null {
  if (path === undefined || sha256 === undefined) return null;
  const form = SUBTITLE_FORMATS.find((each) => each === format);
  return { type: 'lines', label: path, sha256, file: { path }, ...(form === undefined ? {} : { form }) };
}

/** Ids of jobs whose results would have the same names as those of newer jobs. */
function findReplaced(jobs: readonly JobEntry[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const replaced = new Set<string>();
  for (const { id, kind, naming, output_folder: root, state } of jobs) {
    if (naming === undefined || state === 'failed' || state === 'cancelled') continue;
    const parts: readonly ResultPart[] = Object.values(KINDS[kind].result);
    const endings = parts.flatMap((part) => (part.type === 'asset' ? [part.label, part.extension] : []));
    const { keep: _, sourceSha256: __, ...named } = naming;
    const name = JSON.stringify([root, named, endings]);
    if (seen.has(name)) replaced.add(id);
    seen.add(name);
  }
  return replaced;
}

/** The files that a command writes. */
export interface Claims {
  /**
   * Claims files for a job, all or none.
   * @throws Failure (`usage`) if another job has claimed a file, or if a file would be written twice
   */
  take(job: Pick<Job, 'id'>, paths: readonly string[]): void;
}

const ADVICE = 'Make names unique with {id} or {asset} in --name, or use separate folders.';

export function createClaims(): Claims {
  const taken = new Map<string, { readonly label: string; readonly path: string }>();
  return {
    take({ id }, paths) {
      const claims = paths.map((path) => ({ label: id, path }));
      // Only similar names are compared: comparing each of ten thousand jobs with all others would be slow.
      const near = claims.flatMap(({ path }) => taken.get(foldName(path)) ?? []);
      const problems = findClashes([...new Set(near), ...claims]);
      if (problems.length > 0) throw clashingResultsFailure(problems, id);
      for (const claim of claims) taken.set(foldName(claim.path), claim);
    },
  };
}

/**
 * Refuses jobs whose results are already known to collide.
 * @throws Failure (`usage`) that names each; also for an invalid template
 */
export function checkClashes(jobs: readonly Job[], namingOf: NamingOf): void {
  const claims = jobs.flatMap((job) => knownPaths(job, namingOf).map((path) => ({ label: job.id, path })));
  const problems = findClashes(claims);
  if (problems.length > 0) throw clashingResultsFailure(problems);
}

/** @param jobId of the only job that fails; omitted if the whole command fails */
function clashingResultsFailure(problems: readonly InputProblem[], jobId?: string): Failure {
  const [first] = problems;
  const facts = { category: 'usage', code: 'RESULTS_CLASH', advice: ADVICE } as const;
  if (jobId !== undefined) {
    const message = `the result was not fetched: it ${first?.detail}`;
    return new Failure({ ...facts, message, jobId });
  }
  const count = problems.length === 1 ? 'One result' : `${problems.length} results`;
  const message = `${count} would overwrite others; nothing was downloaded`;
  return new Failure({ ...facts, message, errors: problems });
}

/** The paths that are known before the job is done; none for a failed job. */
function knownPaths(job: Job, namingOf: NamingOf): readonly string[] {
  const naming = namingOf(job);
  if (job.status === 'succeeded') return resultFiles(job, naming).map(({ path }) => path);
  if (isTerminal(job.status)) return [];
  const { delivery, stem, asked, found } = naming;
  const template = templateFor(delivery, job.object);
  const lang = nameLanguage(job.object, asked, found);
  const paths = assetPaths(job.object, delivery.folder, template, { stem, lang, id: job.id });
  const isLater = lang !== null && asked === null && template.includes('{lang}');
  return isLater ? [] : paths;
}
