/** What `jobs wait` and `jobs download` share: from the names of jobs to their files, and how that ended. */

import { DOWNLOADS } from '../../batch/deliver/deliver-results.ts';
import { createLimiter } from '../../batch/limiter.ts';
import type { Delivery } from '../../batch/plan/delivery.ts';
import type { Job } from '../../client/index.ts';
import { type Connection, connect } from '../../context/connection.ts';
import type { Context, Progress } from '../../context/context.ts';
import { createInputs } from '../../disk/find-input.ts';
import type { JobEntry } from '../../journal/job-record.ts';
import { checkClashes, createClaims } from './claims.ts';
import { summarizeDelivery, tellStopped } from './delivery-end.ts';
import { collectJobs, inputsOf, recordedJobs } from './find-jobs.ts';
import { chooseWait, event, type Follow } from './follow-job.ts';
import { STDOUT } from './job-options.ts';
import { exitCodeOf, type Outcome, printOutcomes } from './job-outcomes.ts';
import { createNaming } from './result-places.ts';
import type { StdoutOptions } from './stdout-result.ts';

export interface JobDelivery {
  readonly delivery: Delivery;
  /** Null waits without an end. */
  readonly timeoutMs: number | null;
  /** What to say when there is no job. */
  readonly whenNone: string;
  /** References of the jobs. */
  choose(connection: Connection): Promise<readonly string[]>;
  /** Of those that were found the ones that may give a result here. */
  pick(jobs: readonly Job[]): readonly Job[];
  /** Follows jobs to their files. */
  deliver(follow: Follow, jobs: readonly Job[]): Promise<readonly Outcome[]>;
  /** The command that goes on with these. @param ids or references */
  goOn(ids: readonly string[]): string;
}

/**
 * Runs the delivery as the options ask for it: into a folder, or to stdout.
 * @param ids what the command names  @param usual the delivery into a folder
 */
export async function deliverTo(
  context: Context,
  options: StdoutOptions,
  ids: readonly string[],
  usual: Delivery,
  run: (context: Context, delivery: Delivery) => Promise<number>,
): Promise<number> {
  if (options.out !== STDOUT) return run(context, usual);
  const { jobToStdout } = await import('./stdout-result.ts');
  return jobToStdout(context, options, ids, run);
}

/**
 * Looks the jobs up, has them delivered, and prints every outcome, also of those that could not be read.
 * @returns exit code 0
 * @throws Failure that sums up what failed; the reason of the signal, once it is told how to go on
 */
export async function deliverJobs(context: Context, work: JobDelivery): Promise<number> {
  const connection = await connect(context);
  const progress = await context.terminal.progress();
  try {
    const outcomes = await gatherOutcomes({ context, connection, progress }, work);
    progress.close();
    const failure = summarizeDelivery(outcomes, work.delivery, context);
    if (outcomes.length === 0 && !context.signal.aborted) context.terminal.note(work.whenNone);
    await printOutcomes(context, outcomes, exitCodeOf(context, failure));
    if (context.signal.aborted) {
      tellStopped(context, outcomes, work.goOn, connection.capabilities !== null);
      throw context.signal.reason;
    }
    if (failure !== null) throw failure;
    return 0;
  } finally {
    progress.close();
    await connection.close();
  }
}

interface Means {
  readonly context: Context;
  readonly connection: Connection;
  readonly progress: Progress;
}

/** How it ended for each job; when it was interrupted, how far it came. */
async function gatherOutcomes(means: Means, work: JobDelivery): Promise<readonly Outcome[]> {
  let references: readonly string[] = [];
  try {
    references = await work.choose(means.connection);
    return await followAll(means, work, references);
  } catch (error) {
    if (!means.context.signal.aborted) throw error;
    const outcomes = references.map((label) => ({ label, stem: label, job: null, files: [], failure: null }));
    return withInputs(outcomes, await recordedJobs(means.context, means.connection));
  }
}

async function followAll(
  { context, connection, progress }: Means,
  { delivery, timeoutMs, pick, deliver }: JobDelivery,
  references: readonly string[],
): Promise<readonly Outcome[]> {
  const { found, outcomes: looked } = await collectJobs(context, connection, references);
  const jobs = pick(withoutTwins(found));
  if (delivery.toStdout === true) {
    const { checkOneFile } = await import('./stdout-result.ts');
    for (const { object } of jobs) checkOneFile(object);
  }
  const recorded = await recordedJobs(context, connection);
  const namingOf = createNaming(recorded, delivery);
  checkClashes(jobs, namingOf);
  const { find: findInput } = createInputs(recorded.flatMap(({ input_files: files = [] }) => files));
  const lost = looked.flatMap(({ label, failure }): Outcome[] =>
    failure === null ? [] : [{ label, stem: label, job: null, files: [], failure }],
  );
  for (const { label, failure } of lost) {
    progress.end(label, 'failed', failure?.message ?? '');
    event(context, { type: 'failed', id: label, code: failure?.facts.code, message: failure?.message });
  }
  const wait = chooseWait(connection, references.length);
  const claims = createClaims();
  const downloads = createLimiter(DOWNLOADS);
  const follow = {
    connection,
    context,
    progress,
    delivery,
    namingOf,
    findInput,
    timeoutMs,
    wait,
    claims,
    downloads,
  };
  return withInputs([...(await deliver(follow, jobs)), ...lost], recorded);
}

/** With what each job was made from, where the records know it. */
function withInputs(outcomes: readonly Outcome[], recorded: readonly JobEntry[]): readonly Outcome[] {
  const inputs = inputsOf(recorded);
  // The id ends every form of a reference.
  const idOf = ({ job, label }: Outcome) => job?.id ?? label.slice(label.lastIndexOf('/') + 1);
  return outcomes.map((outcome) => ({ ...outcome, input: inputs.get(idOf(outcome)) }));
}

/** A job may have been named in several ways. */
function withoutTwins(jobs: readonly Job[]): readonly Job[] {
  return [...new Map(jobs.map((job) => [`${job.object}/${job.id}`, job] as const)).values()];
}
