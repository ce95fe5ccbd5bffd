/** The rows of what belongs to the account: uploads, credits, any call. */
import type { CommandSection } from './command-row.ts';

export const ACCOUNT: CommandSection = {
  title: 'Account:',
  rows: [
    {
      name: 'upload',
      summary: 'upload files that jobs can use as their input',
      load: async () => (await import('./upload.ts')).upload,
      children: [
        {
          name: 'list',
          summary: 'list uploads, the newest first',
          load: async () => (await import('./upload-list.ts')).uploadList,
        },
        {
          name: 'get',
          summary: 'show uploads as they are now',
          load: async () => (await import('./upload-get.ts')).uploadGet,
        },
        {
          name: 'create',
          summary: 'reserve an upload whose bytes another program sends',
          load: async () => (await import('./upload-create.ts')).uploadCreate,
        },
        {
          name: 'complete',
          summary: 'say that the bytes of an upload are there',
          load: async () => (await import('./upload-complete.ts')).uploadComplete,
        },
      ],
    },
    {
      name: 'credits',
      summary: 'show the credits that are left',
      load: async () => (await import('./credits.ts')).credits,
      children: [
        {
          name: 'history',
          summary: 'list charges, newest first',
          load: async () => (await import('./credits-history.ts')).creditsHistory,
        },
      ],
    },
    {
      name: 'api',
      summary: 'make any signed call',
      load: async () => (await import('./api.ts')).api,
    },
  ],
};
