import { type Command, defineCommand } from './command.ts';
import { connect } from './connection.ts';
import { JOB_SUMMARIES, jobSummaryFields } from './job-records.ts';
import { KIND_OPTION, listJobs, readKinds } from './jobs-listing.ts';
import { listOptions, readListRequest } from './list-options.ts';
import { printList } from './records.ts';

const OPTIONS = { kind: KIND_OPTION, ...listOptions('listJobs') } as const;

export const jobsList: Command = defineCommand({
  options: OPTIONS,
  fields: jobSummaryFields,
  examples: [
    { command: 'vloc jobs list', explains: 'the last twenty jobs of every kind' },
    { command: 'vloc jobs list --status failed --since 24h', explains: 'what went wrong since yesterday' },
    {
      command: 'vloc jobs list --kind dubbing --status processing --all -o id | vloc jobs wait -',
      explains: 'wait for all that is running',
    },
    {
      command: "vloc jobs list --all --jq '.data[].client_reference'",
      explains: 'one field of each, without quotes',
    },
  ],
  notes: ['A list tells of a job in short; `vloc jobs get ID` shows its result, its error and what it cost.'],
  run: async (context, _operands, options) => {
    const kinds = readKinds(options.kind);
    const request = readListRequest('listJobs', options, context.io.now());
    const connection = await connect(context);
    try {
      const { page } = await listJobs(connection.client, kinds, request, context);
      await printList(context, JOB_SUMMARIES, page);
      return 0;
    } finally {
      await connection.close();
    }
  },
});
