import { Failure } from '../client/failure.ts';
import { type Command, defineCommand } from './command.ts';
import { connect } from './connection.ts';
import { followJob } from './job/follow-job.ts';
import { DELIVERY_OPTIONS } from './job/job-options.ts';
import { readDelivery } from './job/job-plan.ts';
import { type Outcome, printOutcomes, summarizeFailures } from './job/outcome.ts';

export const jobsWait: Command = defineCommand({
  operands: { name: 'id', count: 'many', help: 'ids of jobs: bare, kind/id or detail_url' },
  options: DELIVERY_OPTIONS,
  examples: [
    {
      command: 'vloc jobs wait loc_01k9x2m4n6p8q0r2s4t6v8w0y2 --out out',
      explains: 'wait, then download into ./out',
    },
    {
      command: 'vloc jobs wait loc_01k9x2m4n6p8q0r2s4t6v8w0y2 --timeout 10m',
      explains: 'exit code 8 when it still runs',
    },
  ],
  run: async (context, ids, options) => {
    const connection = await connect(context);
    const progress = await context.terminal.progress();
    const follow = {
      connection,
      context,
      progress,
      delivery: readDelivery(null, options, context.io),
      timeoutMs: options.timeout ?? null,
    };
    const waitFor = async (id: string): Promise<Outcome> => {
      try {
        const job = await connection.client.jobs.find(id, { signal: context.signal });
        return await followJob(follow, job, id, job.id);
      } catch (error) {
        if (context.signal.aborted || !(error instanceof Failure)) throw error;
        progress.end(id, 'failed', error.message);
        return { label: id, stem: id, job: null, files: [], failure: error };
      }
    };
    try {
      const outcomes = await Promise.all(ids.map(waitFor));
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
