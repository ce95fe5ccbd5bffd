import { readDelivery } from '../batch/plan/delivery.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { JOB_OPERANDS, readReferences } from '../context/references.ts';
import { deliveryCommand } from '../workflow/jobs/continuation.ts';
import { deliverJobs, deliverTo } from '../workflow/jobs/deliver-jobs.ts';
import { followJob } from '../workflow/jobs/follow-job.ts';
import { checkFolder, JOB_DELIVERY_OPTIONS, TIMEOUT_OPTION } from '../workflow/jobs/job-options.ts';
import { OUTCOME_FIELDS } from '../workflow/jobs/job-outcomes.ts';
import { RESULT_NAMES_NOTE } from '../workflow/jobs/result-places.ts';

export const jobsWait: Command = defineCommand({
  operands: JOB_OPERANDS,
  options: { ...JOB_DELIVERY_OPTIONS, ...TIMEOUT_OPTION },
  fields: () => OUTCOME_FIELDS,
  examples: [
    {
      command: 'vloc jobs wait loc_01k9x2m4n6p8q0r2s4t6v8w0y2 --out out',
      explains: 'wait, then download into ./out',
    },
    {
      command: 'vloc jobs wait loc_01k9x2m4n6p8q0r2s4t6v8w0y2 --timeout 10m',
      explains: 'exit code 8 when it still runs',
    },
    {
      command: 'vloc jobs list --status processing --all -o id | vloc jobs wait - --out out',
      explains: 'all running jobs',
    },
  ],
  notes: [RESULT_NAMES_NOTE],
  run: async (context, operands, options) => {
    await checkFolder(options, context.io);
    const { ids } = await readReferences(operands, context.io);
    return deliverTo(context, options, ids, readDelivery(null, options, context.io), (target, delivery) =>
      deliverJobs(target, {
        delivery,
        timeoutMs: options.timeout ?? null,
        whenNone: 'No jobs to wait for.',
        choose: async () => ids,
        pick: (jobs) => jobs,
        deliver: (follow, jobs) => Promise.all(jobs.map((job) => followJob(follow, job))),
        goOn: (left) => deliveryCommand('wait', left, delivery, context),
      }),
    );
  },
});
