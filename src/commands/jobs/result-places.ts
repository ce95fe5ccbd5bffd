/**
 * Names the results of `jobs wait` and `jobs download` as the run that made the job would, if this machine has a record of it.
 * --out and --name take precedence over the record.
 */

import { resolve } from 'node:path';
import { foundLanguage } from '../../batch/deliver/deliver-results.ts';
import type { ResultNaming } from '../../batch/deliver/download-results.ts';
import type { Delivery } from '../../batch/plan/delivery.ts';
import { askedLanguage } from '../../batch/plan/result-name.ts';
import type { JobEntry } from '../../batch/records/job-record.ts';
import type { Job } from '../../client/index.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import { SUBTITLE_IO } from './subtitles.ts';

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
    const rewrite = naming.format === null ? undefined : SUBTITLE_IO.rewriteSubtitle(naming.format);
    const template = delivery.template || naming.template;
    // The template of a run already has the extension of another format.
    const own =
      rewrite === undefined
        ? { template }
        : { template: template.replaceAll('{ext}', rewrite.extension), rewrite };
    const keep = delivery.isAsIs === true ? undefined : naming.keep;
    return { stem, asked: naming.language, found, delivery: { ...delivery, folder, ...own }, keep };
  };
}

/** Ids of jobs whose results would have the same names as those of newer jobs. */
function findReplaced(jobs: readonly JobEntry[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const replaced = new Set<string>();
  for (const { id, kind, naming, output_folder: root, state } of jobs) {
    if (naming === undefined || state === 'failed' || state === 'cancelled') continue;
    const parts: readonly ResultPart[] = Object.values(KINDS[kind].result);
    const endings = parts.flatMap((part) => (part.type === 'asset' ? [part.label, part.extension] : []));
    const { keep: _, ...named } = naming;
    const name = JSON.stringify([root, named, endings]);
    if (seen.has(name)) replaced.add(id);
    seen.add(name);
  }
  return replaced;
}
