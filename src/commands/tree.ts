/**
 * The command tree. Names and summaries stand here so that the root help loads nothing else; everything about one
 * command is in the file that `load` imports.
 */
import type { CommandGroup, CommandLeaf, CommandRow, CommandSection } from './command-row.ts';
import { ACCOUNT } from './tree-account.ts';
import { BATCH } from './tree-batch.ts';

export type { CommandGroup, CommandLeaf, CommandRow, CommandSection };

export const COMMAND_SECTIONS: readonly CommandSection[] = [
  {
    title: 'Localize:',
    rows: [
      {
        name: 'localize',
        summary: 'bring whole videos into other languages',
        load: async () => (await import('./localize.ts')).localize,
      },
      {
        name: 'separate',
        summary: 'split the sound of videos into voice and background',
        load: async () => (await import('./separate.ts')).separate,
      },
      {
        name: 'recognize',
        summary: 'transcribe videos into subtitles',
        load: async () => (await import('./recognize.ts')).recognize,
      },
      {
        name: 'translate',
        summary: 'translate subtitles into other languages',
        load: async () => (await import('./translate.ts')).translate,
      },
      {
        name: 'dub',
        summary: 'speak subtitles as sound tracks that keep their times',
        load: async () => (await import('./dub.ts')).dub,
      },
    ],
  },
  {
    title: 'Jobs:',
    rows: [
      {
        name: 'jobs',
        summary: 'look at jobs, wait for them, fetch their results',
        children: [
          {
            name: 'list',
            summary: 'list jobs of all kinds, the newest first',
            load: async () => (await import('./jobs-list.ts')).jobsList,
          },
          {
            name: 'get',
            summary: 'show jobs as they are now',
            load: async () => (await import('./jobs-get.ts')).jobsGet,
          },
          {
            name: 'wait',
            summary: 'wait for jobs and download their results',
            load: async () => (await import('./jobs-wait.ts')).jobsWait,
          },
          {
            name: 'download',
            summary: 'download the results of finished jobs',
            load: async () => (await import('./jobs-download.ts')).jobsDownload,
          },
          {
            name: 'cancel',
            summary: 'cancel jobs that have not ended',
            load: async () => (await import('./jobs-cancel.ts')).jobsCancel,
          },
        ],
      },
      BATCH,
      {
        name: 'webhooks',
        summary: 'receive and verify job-completion webhooks',
        children: [
          {
            name: 'listen',
            summary: 'receive webhooks, verify them, forward them, run a command for each',
            load: async () => (await import('./webhooks-listen.ts')).webhooksListen,
          },
          {
            name: 'verify',
            summary: 'say whether a webhook that was saved is genuine, and if not, why',
            load: async () => (await import('./webhooks-verify.ts')).webhooksVerify,
          },
        ],
      },
    ],
  },
  ACCOUNT,
  {
    title: 'This machine:',
    rows: [
      {
        name: 'doctor',
        summary: 'check this machine, the connection and the credentials',
        load: async () => (await import('./doctor.ts')).doctor,
      },
      {
        name: 'profile',
        summary: 'keep services and their keys under names',
        children: [
          {
            name: 'add',
            summary: 'store a service and its key, after a check that they work',
            load: async () => (await import('./profile-add.ts')).profileAdd,
          },
          {
            name: 'list',
            summary: 'list the profiles and say which one is in use',
            load: async () => (await import('./profile-list.ts')).profileList,
          },
          {
            name: 'use',
            summary: 'choose the profile of runs that name none',
            load: async () => (await import('./profile-use.ts')).profileUse,
          },
          {
            name: 'show',
            summary: 'show every setting and where it comes from',
            load: async () => (await import('./profile-show.ts')).profileShow,
          },
          {
            name: 'remove',
            summary: 'remove a profile and its secrets',
            load: async () => (await import('./profile-remove.ts')).profileRemove,
          },
        ],
      },
      {
        name: 'engines',
        summary: 'see and install the media engines of the embedded service',
        children: [
          {
            name: 'list',
            summary: 'show installed engines and their languages',
            load: async () => (await import('./engines-list.ts')).enginesList,
          },
          {
            name: 'install',
            summary: 'install the engines that are missing',
            load: async () => (await import('./engines-install.ts')).enginesInstall,
          },
        ],
      },
      {
        name: 'serve',
        summary: 'run the embedded service for other programs',
        load: async () => (await import('./serve.ts')).serve,
        groups: [
          {
            name: 'keys',
            summary: 'make, list and revoke the API keys of a service',
            children: [
              {
                name: 'create',
                summary: 'make a key and show its secrets, once',
                load: async () => (await import('./serve-keys-create.ts')).serveKeysCreate,
              },
              {
                name: 'list',
                summary: 'list keys and their permissions',
                load: async () => (await import('./serve-keys-list.ts')).serveKeysList,
              },
              {
                name: 'revoke',
                summary: 'end the use of a key',
                load: async () => (await import('./serve-keys-revoke.ts')).serveKeysRevoke,
              },
            ],
          },
        ],
      },
      {
        name: 'schema',
        summary: 'print the OpenAPI document of the interface',
        load: async () => (await import('./schema.ts')).schema,
      },
      {
        name: 'completion',
        summary: 'print the script that completes commands in a shell',
        load: async () => (await import('./completion.ts')).completion,
      },
    ],
  },
];

/** All rows in the order of the help. */
export const COMMAND_ROWS: readonly CommandRow[] = COMMAND_SECTIONS.flatMap((section) => section.rows);

/** A command with the words that call it. */
export interface CalledCommand {
  readonly words: readonly string[];
  readonly leaf: CommandLeaf;
}

/** All commands in the order of the help, those below others too. */
export const COMMANDS: readonly CalledCommand[] = COMMAND_ROWS.flatMap((row) => listCommands(row, []));

function listCommands(row: CommandRow, before: readonly string[]): CalledCommand[] {
  const words = [...before, row.name];
  if (!('load' in row)) return row.children.flatMap((child) => listCommands(child, words));
  const below = [...(row.children ?? []), ...(row.groups ?? [])].flatMap((each) => listCommands(each, words));
  return [{ words, leaf: row }, ...below];
}
