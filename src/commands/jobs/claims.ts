/** Prevents that results of two jobs are written to the same file. */

import { Failure } from '../../base/failure.ts';
import { foldName } from '../../base/find-input.ts';
import { resultFiles } from '../../batch/deliver/download-results.ts';
import { templateFor } from '../../batch/plan/delivery.ts';
import type { InputProblem } from '../../batch/plan/input.ts';
import { assetPaths, nameLanguage } from '../../batch/plan/result-name.ts';
import { findClashes } from '../../batch/plan/result-paths.ts';
import type { Job } from '../../client/index.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { NamingOf } from './result-places.ts';

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
