/** A job command from operands to results. */
import { Failure } from '../../client/failure.ts';
import type { Job } from '../../client/index.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import type { JobRequestInput } from '../../protocol/requests.ts';
import { type Connection, connect } from '../connection.ts';
import type { Context, Progress } from '../context.ts';
import { continueCommand } from './continuation.ts';
import { chooseWait, event, type Follow, followJob, progressKey } from './follow-job.ts';
import type { JobInput } from './job-input.ts';
import { type JobPlan, type PlannedJob, planJobs, sourceFieldOf } from './job-plan.ts';
import { tellNextSteps } from './next-steps.ts';
import { type Outcome, printOutcomes, summarizeFailures } from './outcome.ts';
import { checkSupport } from './support.ts';
import { provideInput } from './upload-input.ts';

interface Run {
  readonly plan: JobPlan;
  readonly context: Context;
  readonly connection: Connection;
  readonly progress: Progress;
  readonly follow: Follow;
  readonly detach: boolean;
  /** Jobs the service has accepted, for the command that continues. */
  readonly accepted: { job: Job; stem: string }[];
}

/** Runs the command of a kind; returns the exit code 0, or throws the Failure that the run ends with. */
export async function runJobs(
  kind: JobKind,
  context: Context,
  operands: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<number> {
  const plan = await planJobs(kind, operands, options, context.io);
  for (const path of plan.skipped) context.terminal.note(`Left out, it is there: ${path}`);
  if (plan.jobs.length === 0) {
    await printOutcomes(context, []);
    return 0;
  }
  const connection = await connect(context);
  const progress = await context.terminal.progress();
  const { delivery } = plan;
  const timeoutMs = typeof options.timeout === 'number' ? options.timeout : null;
  const wait = chooseWait(connection, plan.jobs.length);
  const follow: Follow = { connection, context, progress, delivery, timeoutMs, wait };
  const run: Run = {
    plan,
    context,
    connection,
    progress,
    follow,
    detach: options.detach === true,
    accepted: [],
  };
  try {
    await checkSupport(plan, connection.capabilities);
    const outcomes = await runInputs(run);
    progress.close();
    await finish(run, outcomes);
    return 0;
  } catch (error) {
    progress.close();
    if (context.signal.aborted) tellStop(run);
    throw context.signal.aborted ? context.signal.reason : error;
  } finally {
    await connection.close();
  }
}

/** One upload after the other; the jobs of all inputs run side by side. */
async function runInputs(run: Run): Promise<readonly Outcome[]> {
  const inputs = Map.groupBy(run.plan.jobs, (job) => job.input);
  const outcomes: Promise<Outcome>[] = [];
  for (const [input, jobs] of inputs) {
    let source: Awaited<ReturnType<typeof provideInput>>;
    try {
      source = await provideInput(run.connection, input, run.context, run.progress);
    } catch (error) {
      outcomes.push(...jobs.map(async () => failedOutcome(run, input, error)));
      continue;
    }
    for (const job of jobs) outcomes.push(runJob(run, job, source));
  }
  return Promise.all(outcomes);
}

async function runJob(run: Run, planned: PlannedJob, source: object): Promise<Outcome> {
  const { input, fields } = planned;
  const { kind } = run.plan;
  try {
    // planJobs has checked the fields against the rules of the kind; what --set adds is the service's to judge.
    const request = { ...fields, [sourceFieldOf(kind)]: source } as JobRequestInput<JobKind> &
      Record<string, unknown>;
    const job = await run.connection.client.jobs.create(kind, request, { signal: run.context.signal });
    run.accepted.push({ job, stem: input.stem });
    event(run.context, {
      type: 'created',
      input: input.label,
      id: job.id,
      target_language: planned.targetLanguage,
    });
    if (run.detach) {
      run.progress.end(progressKey(input.label, job), 'done', `${job.id} accepted`);
      return { label: input.label, stem: input.stem, job, files: [], failure: null };
    }
    return await followJob(run.follow, job, input.label, input.stem);
  } catch (error) {
    return failedOutcome(run, input, error);
  }
}

function failedOutcome(run: Run, input: JobInput, error: unknown): Outcome {
  if (run.context.signal.aborted || !(error instanceof Failure)) throw error;
  run.progress.end(input.label, 'failed', error.message);
  event(run.context, { type: 'failed', input: input.label, code: error.facts.code, message: error.message });
  return { label: input.label, stem: input.stem, job: null, files: [], failure: error };
}

async function finish(run: Run, outcomes: readonly Outcome[]): Promise<void> {
  await printOutcomes(run.context, outcomes);
  const failure = summarizeFailures(outcomes);
  const waiting = outcomes.filter((outcome) => outcome.failure?.facts.category === 'timeout');
  if (run.detach || waiting.length > 0) tellContinuation(run);
  if (failure !== null) throw failure;
  if (!run.detach) tellNextSteps(run.context, outcomes);
}

function tellStop(run: Run): void {
  const { terminal } = run.context;
  if (run.accepted.length === 0) terminal.note('Stopped before a job was made; nothing is charged.');
  else terminal.note('Stopped waiting; the job is kept and nothing is lost.');
  tellContinuation(run);
}

function tellContinuation({ accepted, context, connection, plan }: Run): void {
  const { terminal } = context;
  if (accepted.length === 0) return;
  if (connection.capabilities !== null) {
    terminal.note('The embedded service works only while a vloc runs; the job goes on with the next one.');
  }
  terminal.note('Continue with:');
  for (const { job, stem } of accepted)
    terminal.note(`  ${continueCommand(job, stem, plan.delivery, context.io.env)}`);
}
