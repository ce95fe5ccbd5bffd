import { Failure } from '../client/failure.ts';
import { type Command, defineCommand } from './command.ts';
import { connect } from './connection.ts';
import { recordedKinds } from './job/find-jobs.ts';
import { OUTCOME_FIELDS, type Outcome, printOutcomes, summarizeFailures } from './job/outcome.ts';
import { JOB_OPERANDS, readReferences } from './references.ts';

export const jobsCancel: Command = defineCommand({
  operands: JOB_OPERANDS,
  options: {},
  fields: OUTCOME_FIELDS,
  examples: [
    {
      command: 'vloc jobs cancel loc_01k9x2m4n6p8q0r2s4t6v8w0y2',
      explains: 'nothing is charged for a job that is cancelled',
    },
    {
      command: 'vloc jobs list --status queued --all -o id | vloc jobs cancel -',
      explains: 'all that have not begun',
    },
  ],
  notes: ['A job that has ended stays as it is, and what it cost stays charged.'],
  run: async (context, operands) => {
    const { ids } = await readReferences(operands, context.io);
    const connection = await connect(context);
    try {
      const kinds = await recordedKinds(context, connection);
      const outcomes: Outcome[] = [];
      for (const id of ids) {
        try {
          const found = await connection.client.jobs.find(kinds.get(id) ?? id, { signal: context.signal });
          const job = await connection.client.jobs.cancel(found.object, found.id, { signal: context.signal });
          outcomes.push({ label: id, stem: id, job, files: [], failure: null });
        } catch (error) {
          if (context.signal.aborted || !(error instanceof Failure)) throw error;
          outcomes.push({ label: id, stem: id, job: null, files: [], failure: error });
        }
      }
      await printOutcomes(context, outcomes);
      const failure = summarizeFailures(
        outcomes,
        'jobs were not cancelled',
        'Look at them: vloc jobs get ID',
      );
      if (failure !== null) throw failure;
      return 0;
    } finally {
      await connection.close();
    }
  },
});
