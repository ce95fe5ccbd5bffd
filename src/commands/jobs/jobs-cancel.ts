import { Failure } from '../../base/failure.ts';
import type { Job } from '../../client/index.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { type Connection, connectService } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import type { Presentation } from '../context/output/presentation.ts';
import { writeCommand } from '../context/printed-command.ts';
import { JOB_OPERANDS, readReferences } from '../context/references.ts';
import { recordedKinds } from './find-jobs.ts';
import { failedEvent, jobEvent } from './follow-job.ts';
import {
  exitCodeOf,
  OUTCOME_FIELDS,
  type Outcome,
  outcomesFailure,
  presentOutcomes,
} from './job-outcomes.ts';
import { DELIVERIES } from './outputs.ts';

export const jobsCancel: Command = defineCommand({
  operands: JOB_OPERANDS,
  options: {},
  fields: () => OUTCOME_FIELDS,
  examples: [
    {
      command: 'vloc jobs cancel loc_01k9x2m4n6p8q0r2s4t6v8w0y2',
      explains: 'cancel a job; cancelled jobs are not charged',
    },
    {
      command: 'vloc jobs list --status queued --all -o id | vloc jobs cancel -',
      explains: 'cancel all queued jobs',
    },
  ],
  notes: ['A finished job does not change, and its charge remains.'],
  prints: DELIVERIES,
  run: async (context, operands) => {
    const { ids } = await readReferences(operands, context.io);
    const connection = await connectService(context);
    try {
      const outcomes = await cancelAll(context, connection, ids);
      const failure = outcomesFailure(
        outcomes,
        'jobs were not cancelled',
        `Show them with: ${lookCommand(context, outcomes)}`,
      );
      await context.present.show(presentCancelled(context, outcomes, exitCodeOf(context, failure)));
      if (context.signal.aborted) {
        noteStopped(context, outcomes);
        throw context.signal.reason;
      }
      if (failure !== null) throw failure;
      return 0;
    } finally {
      await connection.close();
    }
  },
});

/** Cancels jobs in sequence. After an interruption the outcomes of the remaining jobs have neither job nor failure. */
async function cancelAll(
  context: Context,
  connection: Connection,
  ids: readonly string[],
): Promise<readonly Outcome[]> {
  const kinds = await recordedKinds(context, connection);
  const outcomes: Outcome[] = [];
  for (const id of ids) outcomes.push(await cancelOne(context, connection.client, id, kinds.get(id) ?? id));
  return outcomes;
}

async function cancelOne(
  context: Context,
  { jobs }: Connection['client'],
  label: string,
  reference: string,
): Promise<Outcome> {
  const { signal } = context;
  const about = { label, stem: label, files: [] };
  let found: Job | null = null;
  try {
    found = await jobs.find(reference, { signal });
    const job = await jobs.cancel(found.object, found.id, { signal });
    context.present.event(jobEvent(job));
    return { ...about, job, failure: null };
  } catch (error) {
    if (signal.aborted) return { ...about, job: null, failure: null };
    if (!(error instanceof Failure)) throw error;
    context.present.event(failedEvent(found?.id ?? label, error));
    return { ...about, job: found, failure: error };
  }
}

/** The outcomes; as ids, and as rows without --fields, only the cancelled jobs. */
function presentCancelled(context: Context, outcomes: readonly Outcome[], exitCode: number): Presentation {
  const shown = presentOutcomes(context, outcomes, exitCode);
  const ids = () =>
    outcomes.flatMap(({ job, failure }) => (failure === null && job !== null ? [job.id] : []));
  return { ...shown, ids, rows: () => (context.fields === null ? ids().map((id) => [id]) : shown.rows()) };
}

function noteStopped(context: Context, outcomes: readonly Outcome[]): void {
  const left = outcomes.flatMap(({ label, job, failure }) => ((job ?? failure) === null ? [label] : []));
  if (left.length === 0) return;
  const { note } = context.terminal;
  note(`Stopped: ${left.length} of ${outcomes.length} may still run. Continue with:`);
  note(`  ${writeCommand(context, ['jobs', 'cancel', ...left])}`);
}

/** The command that shows the jobs that were not cancelled. */
function lookCommand(context: Context, outcomes: readonly Outcome[]): string {
  const failed = outcomes.flatMap(({ label, job, failure }) => (failure === null ? [] : [job?.id ?? label]));
  return writeCommand(context, ['jobs', 'get', ...failed]);
}
