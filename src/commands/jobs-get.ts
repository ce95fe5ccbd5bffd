import type { Job } from '../client/index.ts';
import { type Command, defineCommand } from './command.ts';
import { connect } from './connection.ts';

export const jobsGet: Command = defineCommand({
  operands: { name: 'id', count: 'many', help: 'ids of jobs: bare, kind/id or detail_url' },
  options: {},
  examples: [
    {
      command: 'vloc jobs get loc_01k9x2m4n6p8q0r2s4t6v8w0y2 --output json',
      explains: 'everything the service says of a job',
    },
  ],
  run: async (context, ids) => {
    const connection = await connect(context);
    try {
      const jobs: Job[] = [];
      for (const id of ids) jobs.push(await connection.client.jobs.find(id, { signal: context.signal }));
      switch (context.output) {
        case 'json':
          context.print(JSON.stringify(ids.length === 1 ? jobs[0] : jobs, null, 2));
          break;
        case 'ndjson':
          for (const job of jobs) context.print(JSON.stringify(job));
          context.print(JSON.stringify({ type: 'summary', jobs: jobs.length }));
          break;
        case 'id':
        case 'plain':
          for (const job of jobs) context.print(context.output === 'id' ? job.id : `${job.id} ${job.status}`);
          break;
        case 'table':
          context.print(
            await context.terminal.table(
              ['JOB', 'KIND', 'STATUS', 'PROGRESS', 'CREATED', 'ERROR'],
              jobs.map(row),
            ),
          );
      }
      return 0;
    } finally {
      await connection.close();
    }
  },
});

function row(job: Job): string[] {
  const stage = job.status === 'processing' && job.stage !== null ? ` (${job.stage})` : '';
  return [
    job.id,
    job.object,
    `${job.status}${stage}`,
    `${job.progress} %`,
    job.created_at,
    job.error?.message ?? '-',
  ];
}
