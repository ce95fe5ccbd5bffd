/** What `jobs wait` and `jobs download` share: from the names of jobs to their files, and how that ended. */
import type { Delivery } from '../batch/plan/delivery.ts';
import type { Job } from '../client/index.ts';
import { type Connection, connect } from './connection.ts';
import type { Context } from './context.ts';
import { collectJobs } from './job/find-jobs.ts';
import { chooseWait, type Follow } from './job/follow-job.ts';
import { type Outcome, printOutcomes, summarizeFailures } from './job/outcome.ts';

export interface JobDelivery {
  readonly delivery: Delivery;
  /** Null waits without an end. */
  readonly timeoutMs: number | null;
  /** What to say when there is no job. */
  readonly whenNone: string;
  /** References of the jobs. */
  choose(connection: Connection): Promise<readonly string[]>;
  /** Follows the jobs that were found to their files. */
  deliver(follow: Follow, jobs: readonly Job[]): Promise<readonly Outcome[]>;
}

/**
 * Looks the jobs up, has them delivered, and prints every outcome, also of those that could not be read.
 * @returns exit code 0
 * @throws Failure that sums up what failed
 */
export async function deliverJobs(
  context: Context,
  { delivery, timeoutMs, whenNone, choose, deliver }: JobDelivery,
): Promise<number> {
  const connection = await connect(context);
  const progress = await context.terminal.progress();
  try {
    const references = await choose(connection);
    const { found, outcomes: looked } = await collectJobs(context, connection, references);
    const lost = looked.flatMap(({ label, failure }): Outcome[] =>
      failure === null ? [] : [{ label, stem: label, job: null, files: [], failure }],
    );
    for (const { label, failure } of lost) progress.end(label, 'failed', failure?.message ?? '');
    const wait = chooseWait(connection, references.length);
    const delivered = await deliver({ connection, context, progress, delivery, timeoutMs, wait }, found);
    const outcomes = [...delivered, ...lost];
    progress.close();
    if (outcomes.length === 0) context.terminal.note(whenNone);
    await printOutcomes(context, outcomes);
    const failure = summarizeFailures(outcomes);
    if (failure !== null) throw failure;
    return 0;
  } catch (error) {
    throw context.signal.aborted ? context.signal.reason : error;
  } finally {
    progress.close();
    await connection.close();
  }
}
