import { readDelivery } from '../batch/plan/delivery.ts';
import { type Command, defineCommand } from './command.ts';
import { connect } from './connection.ts';
import { collectJobs } from './job/find-jobs.ts';
import { chooseWait, type Follow, followJob } from './job/follow-job.ts';
import { DELIVERY_OPTIONS } from './job/job-options.ts';
import { OUTCOME_FIELDS, type Outcome, printOutcomes, summarizeFailures } from './job/outcome.ts';
import { JOB_OPERANDS, readReferences } from './references.ts';

export const jobsWait: Command = defineCommand({
  operands: JOB_OPERANDS,
  options: DELIVERY_OPTIONS,
  fields: OUTCOME_FIELDS,
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
      explains: 'all that is running',
    },
  ],
  run: async (context, operands, options) => {
    const { ids } = await readReferences(operands, context.io);
    if (ids.length === 0) context.terminal.note('No jobs to wait for.');
    const connection = await connect(context);
    const progress = await context.terminal.progress();
    const follow: Follow = {
      connection,
      context,
      progress,
      delivery: readDelivery(null, options, context.io),
      timeoutMs: options.timeout ?? null,
      wait: chooseWait(connection, ids.length),
    };
    try {
      const { found, outcomes: looked } = await collectJobs(context, connection, ids);
      const lost = looked.flatMap(({ label, failure }): Outcome[] =>
        failure === null ? [] : [{ label, stem: label, job: null, files: [], failure }],
      );
      for (const { label, failure } of lost) progress.end(label, 'failed', failure?.message ?? '');
      const followed = await Promise.all(found.map((job) => followJob(follow, job, job.id, job.id)));
      const outcomes = [...followed, ...lost];
      progress.close();
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
  },
});
