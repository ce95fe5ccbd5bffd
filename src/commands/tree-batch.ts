/** The rows of what is done with a folder of results as a whole. */
import type { CommandGroup } from './command-row.ts';

export const BATCH: CommandGroup = {
  name: 'batch',
  summary: 'look at a folder of results, run again what failed, report on it',
  children: [
    {
      name: 'status',
      summary: 'say how the items of a folder stand and what failed, without asking the service',
      load: async () => (await import('./batch-status.ts')).batchStatus,
    },
    {
      name: 'retry',
      summary: 'run again what failed, and nothing else',
      load: async () => (await import('./batch-retry.ts')).batchRetry,
    },
    {
      name: 'report',
      summary: 'write a report on a folder: a page to look at, Markdown, JSON or JUnit XML',
      load: async () => (await import('./batch-report.ts')).batchReport,
    },
  ],
};
