/** Commands that read jobs: `jobs list` and `jobs get`. */
import { type Command, defineCommand } from '../context/command.ts';
import { connectService } from '../context/connection.ts';
import { listOptions, readListRequest } from '../context/lists.ts';
import { printList, printRecord } from '../context/records.ts';
import { JOB_OPERANDS, readReferences } from '../context/references.ts';
import { collectJobs, inputsOf, recordedJobs } from './find-jobs.ts';
import { outcomesFailure } from './job-outcomes.ts';
import {
  JOBS,
  jobFields,
  KIND_OPTION,
  LISTED_JOBS,
  listedJobFields,
  listJobs,
  readKinds,
} from './list-jobs.ts';

export const jobsGet: Command = defineCommand({
  operands: JOB_OPERANDS,
  options: {},
  fields: jobFields,
  examples: [
    {
      command: 'vloc jobs get loc_01k9x2m4n6p8q0r2s4t6v8w0y2 --output json',
      explains: 'all fields of a job',
    },
    {
      command: 'vloc jobs list --status succeeded -o id | vloc jobs get - --fields id,billing -o ndjson',
      explains: 'the cost of each job',
    },
  ],
  notes: ['With one id, JSON output is the job; with several or -, it is a list.'],
  schemas: async () => (await import('../account/outputs.ts')).JOB_RECORDS,
  run: async (context, operands) => {
    const { ids, single } = await readReferences(operands, context.io);
    const connection = await connectService(context);
    try {
      const { found, outcomes } = await collectJobs(context, connection, ids);
      const [only] = found;
      if (!single) await printList(context, JOBS, { data: found, has_more: false, next_cursor: null });
      else if (only !== undefined) await printRecord(context, JOBS, only);
      const failure = outcomesFailure(outcomes, 'jobs could not be read', 'Check their ids.');
      if (failure !== null) throw failure;
      return 0;
    } finally {
      await connection.close();
    }
  },
});

const OPTIONS = { kind: KIND_OPTION, ...listOptions('listJobs') } as const;

export const jobsList: Command = defineCommand({
  options: OPTIONS,
  fields: listedJobFields,
  examples: [
    { command: 'vloc jobs list', explains: 'the last twenty jobs of all kinds' },
    { command: 'vloc jobs list --status failed --since 24h', explains: 'jobs that failed since yesterday' },
    {
      command: 'vloc jobs list --kind dubbing --status processing --all -o id | vloc jobs wait -',
      explains: 'wait for all running dubbing jobs',
    },
    {
      command: "vloc jobs list --all --jq '.data[].client_reference'",
      explains: 'one field of each job, without quotes',
    },
  ],
  notes: [
    'INPUT is shown for jobs created on this machine. `vloc jobs get ID` shows the result, the error and the cost of a job.',
  ],
  schemas: async () => (await import('../account/outputs.ts')).LISTED_JOBS,
  run: async (context, _operands, options) => {
    const kinds = readKinds(options.kind);
    const request = readListRequest('listJobs', options, context.io.now());
    const connection = await connectService(context);
    try {
      const { page } = await listJobs(connection.client, kinds, request, context);
      const inputs = inputsOf(await recordedJobs(context, connection));
      const data = page.data.map((job) => ({ ...job, input: inputs.get(job.id) ?? null }));
      await printList(context, LISTED_JOBS, { ...page, data });
      return 0;
    } finally {
      await connection.close();
    }
  },
});
