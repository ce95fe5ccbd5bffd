/** The common part of `jobs wait` and `jobs download`: looks up jobs, delivers them and prints the outcomes. */

import PQueue from 'p-queue';
import type { Failure } from '../../base/failure.ts';
import { createInputs } from '../../base/find-input.ts';
import { DOWNLOADS } from '../../batch/deliver/deliver-results.ts';
import type { Delivery } from '../../batch/inputs/delivery.ts';
import type { JobEntry } from '../../batch/records/job-record.ts';
import type { Job } from '../../client/index.ts';
import { type Connection, connectService } from '../context/connection.ts';
import type { Context, Progress } from '../context/context.ts';
import { printProvenance } from '../screen/print-provenance.ts';
import { deliveryCommand, EMBEDDED_STOPS } from './continuation.ts';
import { collectJobs, inputsOf, recordedJobs } from './find-jobs.ts';
import { chooseWait, type Follow, failedEvent, isStillRunning } from './follow-job.ts';
import { STDOUT } from './job-options.ts';
import { exitCodeOf, isLeft, type Outcome, outcomesFailure, presentOutcomes } from './job-outcomes.ts';
import { checkClashes, createClaims, createNaming, nameOthers } from './result-places.ts';
import { checkOneFile, jobToStdout, type StdoutOptions } from './stdout-result.ts';

interface JobDelivery {
  readonly delivery: Delivery;
  /** Null for no limit. */
  readonly timeoutMs: number | null;
  /** Message if there are no jobs. */
  readonly whenNone: string;
  /** References of the jobs. */
  choose(connection: Connection): Promise<readonly string[]>;
  /** Selects the jobs to deliver. */
  pick(jobs: readonly Job[]): readonly Job[];
  /** Delivers jobs. */
  deliver(follow: Follow, jobs: readonly Job[]): Promise<readonly Outcome[]>;
  /** The command that continues with these jobs. @param ids or references */
  goOn(ids: readonly string[]): string;
}

/**
 * Runs the delivery as the options ask for it: into a folder, or to stdout.
 * @param ids as given to the command  @param usual the delivery into a folder
 */
export async function deliverTo(
  context: Context,
  options: StdoutOptions,
  ids: readonly string[],
  usual: Delivery,
  run: (context: Context, delivery: Delivery) => Promise<number>,
): Promise<number> {
  if (options.out !== STDOUT) return run(context, usual);
  return jobToStdout(context, options, ids, run);
}

/**
 * Looks up the jobs, delivers them, and prints every outcome, including jobs that could not be read.
 * @returns exit code 0
 * @throws Failure that summarizes what failed; the reason of the signal, after printing how to continue
 */
export async function deliverJobs(context: Context, work: JobDelivery): Promise<number> {
  const connection = await connectService(context);
  const progress = await context.terminal.progress();
  try {
    const outcomes = await gatherOutcomes({ context, connection, progress }, work);
    progress.close();
    printProvenance(context.terminal, outcomes.flatMap(madeItemOf), context.io.cwd);
    const failure = deliveriesFailure(outcomes, work.delivery, context);
    if (outcomes.length === 0 && !context.signal.aborted) context.terminal.note(work.whenNone);
    await context.present.show(presentOutcomes(context, outcomes, exitCodeOf(context, failure)));
    if (context.signal.aborted) {
      printStopped(context, outcomes, work.goOn, connection.isFree);
      throw context.signal.reason;
    }
    if (failure !== null) throw failure;
    return 0;
  } finally {
    progress.close();
    await connection.close();
  }
}

function madeItemOf({ label, input = label, job, provenance = null }: Outcome) {
  return job === null || provenance === null
    ? []
    : [{ label: input, kind: job.object, key: null, provenance }];
}

interface Means {
  readonly context: Context;
  readonly connection: Connection;
  readonly progress: Progress;
}

/** The outcome of each job, or its progress after an interruption. */
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
  if (delivery.toStdout === true) for (const { object } of jobs) checkOneFile(object);
  const recorded = await recordedJobs(context, connection);
  const others = await nameOthers(jobs, recorded, delivery, connection.client, context.signal);
  const namingOf = createNaming(recorded, delivery, others);
  checkClashes(jobs, namingOf);
  const { find: findInput } = createInputs(recorded.flatMap(({ input_files: files = [] }) => files));
  const lost = looked.flatMap(({ label, failure }) =>
    failure === null ? [] : [{ label, stem: label, job: null, files: [], failure }],
  );
  for (const { label, failure } of lost) {
    progress.end(label, 'failed', failure.message);
    context.present.event(failedEvent(label, failure));
  }
  const wait = chooseWait(connection, references.length);
  const claims = createClaims();
  const downloads = new PQueue({ concurrency: DOWNLOADS });
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

/** Adds the recorded inputs of the jobs. */
function withInputs(outcomes: readonly Outcome[], recorded: readonly JobEntry[]): readonly Outcome[] {
  const inputs = inputsOf(recorded);
  // The id ends every form of a reference.
  const idOf = ({ job, label }: Outcome) => job?.id ?? label.slice(label.lastIndexOf('/') + 1);
  return outcomes.map((outcome) => ({ ...outcome, input: inputs.get(idOf(outcome)) }));
}

/** Removes duplicates, since a job can be named in several ways. */
function withoutTwins(jobs: readonly Job[]): readonly Job[] {
  return [...new Map(jobs.map((job) => [`${job.object}/${job.id}`, job] as const)).values()];
}

const FIX = 'Fix the problems above, then run the same command again: what was fetched is kept.';

/** The failure of the whole command; null for none. */
function deliveriesFailure(
  outcomes: readonly Outcome[],
  delivery: Delivery,
  context: Context,
): Failure | null {
  const failed = outcomes.filter(({ failure }) => failure !== null);
  const running = failed.filter(({ failure }) => isStillRunning(failure));
  if (running.length === 0) return outcomesFailure(outcomes, 'jobs failed', FIX);
  const command = deliveryCommand('wait', running.map(idOf), delivery, context);
  if (running.length === failed.length) {
    return outcomesFailure(
      outcomes,
      'jobs are still running',
      `They are still running; wait for them with: ${command}`,
    );
  }
  const advice = `Some are still running; wait for them with: ${command}\n${FIX}`;
  return outcomesFailure(outcomes, 'jobs failed', advice);
}

/** Prints the state of an interrupted command, and how to continue. */
function printStopped(
  { terminal }: Context,
  outcomes: readonly Outcome[],
  goOn: (ids: readonly string[]) => string,
  isEmbedded: boolean,
): void {
  const left = outcomes.filter(isLeft);
  if (left.length === 0 && outcomes.length > 0) return;
  const { note } = terminal;
  const counts = outcomes.length < 2 ? '' : `: ${left.length} of ${outcomes.length} have no result here yet`;
  note(`Stopped${counts}. The jobs continue and nothing is lost.`);
  if (isEmbedded) note(EMBEDDED_STOPS);
  note('Continue with:');
  note(`  ${goOn(left.map(idOf))}`);
}

function idOf({ job, label }: Outcome): string {
  return job?.id ?? label;
}
