/**
 * The command tree. Names and summaries stand here so that the root help loads nothing else; everything about one
 * command is in the file that `load` imports.
 */
import type { Command } from './command.ts';

export interface CommandLeaf {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
  /** Commands below this one, which is itself a command. */
  readonly groups?: readonly CommandGroup[];
}

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly children: readonly CommandLeaf[];
}

export type CommandRow = CommandLeaf | CommandGroup;

export interface CommandSection {
  readonly title: string;
  readonly rows: readonly CommandRow[];
}

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
        summary: 'write down what is said in videos as subtitles',
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
            name: 'cancel',
            summary: 'cancel jobs that have not ended',
            load: async () => (await import('./jobs-cancel.ts')).jobsCancel,
          },
        ],
      },
    ],
  },
  {
    title: 'This machine:',
    rows: [
      {
        name: 'engines',
        summary: 'see and install the media engines of the embedded service',
        children: [
          {
            name: 'list',
            summary: 'say what is installed and what it can do',
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
                summary: 'list keys and what they may do',
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
  const below = (row.groups ?? []).flatMap((group) => listCommands(group, words));
  return [{ words, leaf: row }, ...below];
}
