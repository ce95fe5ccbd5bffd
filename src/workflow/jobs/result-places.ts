/**
 * What `jobs wait` and `jobs download` name results by: as the run would have that made the job, where this machine has a
 * record of it. --out and --name win over the record.
 */

import { resolve } from 'node:path';
import { foundLanguage } from '../../batch/deliver/deliver-results.ts';
import type { ResultNaming } from '../../batch/deliver/download-results.ts';
import type { Delivery } from '../../batch/plan/delivery.ts';
import { askedLanguage } from '../../batch/plan/result-name.ts';
import type { Job } from '../../client/index.ts';
import type { JobEntry } from '../../journal/job-record.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import { SUBTITLE_IO } from '../prepare/subtitles.ts';

/** For the help of those commands. */
export const RESULT_NAMES_NOTE =
  'Results of jobs that this machine made get the folder, name and format that their run would have given them; --out ' +
  'and --name win. Other results, and those that a newer job would replace, are named by the id of their job. INPUT is ' +
  'the file that this machine made the job from, else the id.';

/** Where the result of a job goes, and its name. */
export type NamingOf = (job: Job) => ResultNaming;

/**
 * @param jobs what this machine has recorded, newest first
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
      // The answer is all that is known of a job that was made elsewhere, and its id tells it from all others.
      return { stem: job.id, asked: askedLanguage(job.object, job.input), found, delivery };
    }
    const stem = replaced.has(job.id) ? job.id : naming.stem;
    const root = delivery.isFolderGiven === true ? delivery.folder : (entry.output_folder ?? delivery.folder);
    const isPlaceGiven = delivery.isFolderGiven === true && delivery.template !== '';
    const folder = isPlaceGiven ? root : resolve(root, naming.folder);
    const rewrite = naming.format === null ? undefined : SUBTITLE_IO.rewriteSubtitle(naming.format);
    const template = delivery.template || naming.template;
    // The template of a run names the ending of another format already.
    const own =
      rewrite === undefined
        ? { template }
        : { template: template.replaceAll('{ext}', rewrite.extension), rewrite };
    return { stem, asked: naming.language, found, delivery: { ...delivery, folder, ...own } };
  };
}

/** Ids of jobs whose results would have the names of those of newer jobs: a file that was made again is the newest. */
function findReplaced(jobs: readonly JobEntry[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const replaced = new Set<string>();
  for (const { id, kind, naming, output_folder: root, state } of jobs) {
    if (naming === undefined || state === 'failed' || state === 'cancelled') continue;
    const parts: readonly ResultPart[] = Object.values(KINDS[kind].result);
    const endings = parts.flatMap((part) => (part.type === 'asset' ? [part.label, part.extension] : []));
    const name = JSON.stringify([root, naming, endings]);
    if (seen.has(name)) replaced.add(id);
    seen.add(name);
  }
  return replaced;
}
