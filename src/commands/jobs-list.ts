import { type Command, defineCommand } from '../context/command.ts';
import { connect } from '../context/connection.ts';
import { listOptions, readListRequest } from '../context/lists.ts';
import { printList } from '../context/records.ts';
import { inputsOf, recordedJobs } from '../workflow/jobs/find-jobs.ts';
import {
  KIND_OPTION,
  LISTED_JOBS,
  listedJobFields,
  listJobs,
  readKinds,
} from '../workflow/jobs/list-jobs.ts';

const OPTIONS = { kind: KIND_OPTION, ...listOptions('listJobs') } as const;

export const jobsList: Command = defineCommand({
  options: OPTIONS,
  fields: listedJobFields,
  examples: [
    { command: 'vloc jobs list', explains: 'the last twenty jobs of every kind' },
    { command: 'vloc jobs list --status failed --since 24h', explains: 'jobs that failed since yesterday' },
    {
      command: 'vloc jobs list --kind dubbing --status processing --all -o id | vloc jobs wait -',
      explains: 'wait for all running jobs',
    },
    {
      command: "vloc jobs list --all --jq '.data[].client_reference'",
      explains: 'one field of each, without quotes',
    },
  ],
  notes: [
    'INPUT is known of jobs that this machine made. `vloc jobs get ID` shows the result, the error and the cost of a job.',
  ],
  run: async (context, _operands, options) => {
    const kinds = readKinds(options.kind);
    const request = readListRequest('listJobs', options, context.io.now());
    const connection = await connect(context);
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
