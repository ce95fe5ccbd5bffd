import { type Command, defineCommand } from '../context/command.ts';
import { connect } from '../context/connection.ts';
import { printList, printRecord } from '../context/records.ts';
import { JOB_OPERANDS, readReferences } from '../context/references.ts';
import { collectJobs } from '../workflow/jobs/find-jobs.ts';
import { summarizeFailures } from '../workflow/jobs/job-outcomes.ts';
import { JOBS, jobFields } from '../workflow/jobs/list-jobs.ts';

export const jobsGet: Command = defineCommand({
  operands: JOB_OPERANDS,
  options: {},
  fields: jobFields,
  examples: [
    {
      command: 'vloc jobs get loc_01k9x2m4n6p8q0r2s4t6v8w0y2 --output json',
      explains: 'everything the service says of a job',
    },
    {
      command: 'vloc jobs list --status succeeded -o id | vloc jobs get - --fields id,billing -o ndjson',
      explains: 'the cost of each job',
    },
  ],
  notes: ['For one id JSON is the job itself; for several, and for -, it is a list of them.'],
  run: async (context, operands) => {
    const { ids, single } = await readReferences(operands, context.io);
    const connection = await connect(context);
    try {
      const { found, outcomes } = await collectJobs(context, connection, ids);
      const [only] = found;
      if (!single) await printList(context, JOBS, { data: found, has_more: false, next_cursor: null });
      else if (only !== undefined) await printRecord(context, JOBS, only);
      const failure = summarizeFailures(outcomes, 'jobs could not be read', 'Check their ids.');
      if (failure !== null) throw failure;
      return 0;
    } finally {
      await connection.close();
    }
  },
});
