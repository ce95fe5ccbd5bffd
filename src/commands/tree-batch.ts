/** The rows of what is done with a folder of results as a whole. */
import type { CommandGroup } from './command-row.ts';

export const BATCH: CommandGroup = {
  name: 'batch',
  summary: 'show, retry and report on a folder of results',
  children: [
    {
      name: 'status',
      summary: 'show the state of the items of a folder, without asking the service',
      load: async () => (await import('./batch-status.ts')).batchStatus,
    },
    {
      name: 'retry',
      summary: 'run only failed items again',
      load: async () => (await import('./batch-retry.ts')).batchRetry,
    },
    {
      name: 'report',
      summary: 'write a report on a folder: a page to look at, Markdown, JSON or JUnit XML',
      load: async () => (await import('./batch-report.ts')).batchReport,
    },
  ],
};
