/** Commands that read jobs: `jobs list` and `jobs get`. */
import * as v from 'valibot';
import type { Job, JobSummary } from '../../client/read/resources.ts';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { shapeOf } from '../../protocol/shape.ts';
import { JOB_STATUSES } from '../../protocol/states.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { connectService } from '../context/connection.ts';
import { listOptions, readListRequest } from '../context/lists.ts';
import {
  Anything,
  describeList,
  describeRecordOrList,
  NullableNumber,
  NullableText,
} from '../context/output-schemas.ts';
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

const SummarySchema = shapeOf<JobSummary>()(
  v.object({
    id: v.string(),
    object: v.picklist(JOB_KIND_NAMES),
    status: v.picklist(JOB_STATUSES),
    progress: v.number(),
    client_reference: NullableText,
    created_at: v.string(),
    updated_at: v.string(),
    detail_url: v.string(),
  }),
);

const JobSchema = shapeOf<Job>()(
  v.object({
    ...SummarySchema.entries,
    stage: NullableText,
    input: Anything,
    error: v.nullable(v.object({ code: v.string(), message: v.string(), retryable: v.boolean() })),
    result: v.nullable(Anything),
    billing: v.nullable(
      v.object({
        status: NullableText,
        unit: NullableText,
        quantity: NullableNumber,
        reserved_credits: NullableNumber,
        charged_credits: NullableNumber,
      }),
    ),
    expires_at: NullableText,
    started_at: NullableText,
    finished_at: NullableText,
  }),
);

const JOB_RECORDS = describeRecordOrList(JobSchema);

const PRINTED_JOBS = describeList(v.object({ ...SummarySchema.entries, input: NullableText }));

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
  prints: JOB_RECORDS,
  run: async (context, operands) => {
    const { ids, single } = await readReferences(operands, context.io);
    const connection = await connectService(context);
    try {
      const { found, outcomes } = await collectJobs(context, connection, ids);
      const [only] = found;
      if (!single) await printList(context, JOBS, { data: found });
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
  prints: PRINTED_JOBS,
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
