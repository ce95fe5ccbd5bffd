/**
 * The command tree. Names and summaries are here, so that the root help loads nothing else; everything about one
 * command is in the file that `load` imports.
 */
import type { CalledCommand, Command, ToolEffect } from './context/command.ts';

export interface CommandLeaf {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
  readonly tool?: ToolEffect;
  /** Subcommands of a row that is a command itself. */
  readonly children?: readonly CommandLeaf[];
  /** Groups of subcommands. */
  readonly groups?: readonly CommandGroup[];
}

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly children: readonly CommandRow[];
}

export type CommandRow = CommandLeaf | CommandGroup;

interface CommandSection {
  readonly title: string;
  readonly rows: readonly CommandRow[];
}

export const COMMAND_SECTIONS: readonly CommandSection[] = [
  {
    title: 'Localize:',
    rows: [
      {
        name: 'localize',
        summary: 'translate and dub whole videos',
        load: async () => (await import('./job-commands.ts')).localize,
        tool: 'pays',
      },
      {
        name: 'separate',
        summary: 'split the sound of videos into voice and background',
        load: async () => (await import('./job-commands.ts')).separate,
        tool: 'pays',
      },
      {
        name: 'recognize',
        summary: 'transcribe videos into subtitles',
        load: async () => (await import('./job-commands.ts')).recognize,
        tool: 'pays',
      },
      {
        name: 'translate',
        summary: 'translate subtitles into other languages',
        load: async () => (await import('./job-commands.ts')).translate,
        tool: 'pays',
      },
      {
        name: 'dub',
        summary: 'make spoken sound tracks from subtitles',
        load: async () => (await import('./job-commands.ts')).dub,
        tool: 'pays',
      },
      {
        name: 'subtitles',
        summary: 'check, fix, compare, convert and preview subtitles',
        children: [
          {
            name: 'check',
            summary: 'list what a style guide forbids, and what a dub cannot say in time',
            load: async () => (await import('./subtitles/check.ts')).subtitlesCheck,
          },
          {
            name: 'fix',
            summary: 'correct times and line breaks, never a word',
            load: async () => (await import('./subtitles/fix.ts')).subtitlesFix,
          },
          {
            name: 'export',
            summary: 'write the translations of a folder as one table, for a spreadsheet',
            load: async () => (await import('./review/export.ts')).subtitlesExport,
          },
          {
            name: 'import',
            summary: 'write the edited cells of such a table into its subtitles',
            load: async () => (await import('./review/import.ts')).subtitlesImport,
          },
          {
            name: 'compare',
            summary: 'list the cues that differ between two files',
            load: async () => (await import('./subtitles/compare.ts')).subtitlesCompare,
          },
          {
            name: 'convert',
            summary: 'write subtitles in another format',
            load: async () => (await import('./subtitles/convert.ts')).subtitlesConvert,
          },
          {
            name: 'preview',
            summary: 'draw a picture of a video with its burned subtitles',
            load: async () => (await import('./subtitles/preview.ts')).subtitlesPreview,
          },
        ],
      },
      {
        name: 'verify',
        summary: 'show what is machine-made in files, and whether they were changed since',
        load: async () => (await import('./tool/verify.ts')).verify,
      },
      {
        name: 'memory',
        summary: 'exchange remembered translations with other programs',
        children: [
          {
            name: 'export',
            summary: 'write the remembered translations of a folder as TMX',
            load: async () => (await import('./memory/memory.ts')).memoryExport,
          },
          {
            name: 'import',
            summary: 'remember the translations of TMX files',
            load: async () => (await import('./memory/memory.ts')).memoryImport,
          },
        ],
      },
    ],
  },
  {
    title: 'Jobs:',
    rows: [
      {
        name: 'jobs',
        summary: 'show jobs, wait for them, download their results',
        children: [
          {
            name: 'list',
            summary: 'list jobs of all kinds, newest first',
            load: async () => (await import('./jobs/jobs.ts')).jobsList,
            tool: 'reads',
          },
          {
            name: 'get',
            summary: 'show the current state of jobs',
            load: async () => (await import('./jobs/jobs.ts')).jobsGet,
            tool: 'reads',
          },
          {
            name: 'wait',
            summary: 'wait for jobs and download their results',
            load: async () => (await import('./jobs/jobs-results.ts')).jobsWait,
            tool: 'writes',
          },
          {
            name: 'download',
            summary: 'download the results of finished jobs',
            load: async () => (await import('./jobs/jobs-results.ts')).jobsDownload,
            tool: 'writes',
          },
          {
            name: 'cancel',
            summary: 'cancel jobs that have not finished',
            load: async () => (await import('./jobs/jobs-cancel.ts')).jobsCancel,
            tool: 'cancels',
          },
        ],
      },
      {
        name: 'batch',
        summary: 'show, retry, report on and pack a folder of results',
        children: [
          {
            name: 'status',
            summary: 'show the state of the items of a folder, without asking the service',
            load: async () => (await import('./batch/status.ts')).batchStatus,
            tool: 'reads',
          },
          {
            name: 'retry',
            summary: 'retry only failed items',
            load: async () => (await import('./batch/retry.ts')).batchRetry,
          },
          {
            name: 'forget',
            summary: 'remove items from the record of a folder, such as those of deleted inputs',
            load: async () => (await import('./batch/forget.ts')).batchForget,
          },
          {
            name: 'report',
            summary: 'write a report on a folder: HTML page, Markdown, JSON or JUnit XML',
            load: async () => (await import('./batch/report.ts')).batchReport,
            tool: 'writes',
          },
          {
            name: 'pack',
            summary: 'copy results, inputs, subtitles and the page into a .zip file or folder for others',
            load: async () => (await import('./batch/pack.ts')).batchPack,
          },
        ],
      },
      {
        name: 'webhooks',
        summary: 'receive and verify job-completion webhooks',
        children: [
          {
            name: 'listen',
            summary: 'receive webhooks, verify them, forward them, run a command for each',
            load: async () => (await import('./webhooks/listen.ts')).webhooksListen,
          },
          {
            name: 'verify',
            summary: 'verify a saved webhook, and report why it is not genuine',
            load: async () => (await import('./webhooks/verify.ts')).webhooksVerify,
          },
        ],
      },
    ],
  },
  {
    title: 'Account:',
    rows: [
      {
        name: 'upload',
        summary: 'upload files that jobs can use as their input',
        load: async () => (await import('./uploads/upload.ts')).upload,
        children: [
          {
            name: 'list',
            summary: 'list uploads, newest first',
            load: async () => (await import('./uploads/uploads.ts')).uploadList,
          },
          {
            name: 'get',
            summary: 'show the current state of uploads',
            load: async () => (await import('./uploads/uploads.ts')).uploadGet,
          },
          {
            name: 'create',
            summary: 'reserve an upload whose bytes another program sends',
            load: async () => (await import('./uploads/uploads.ts')).uploadCreate,
          },
          {
            name: 'complete',
            summary: 'complete an upload whose bytes another program has sent',
            load: async () => (await import('./uploads/uploads.ts')).uploadComplete,
          },
        ],
      },
      {
        name: 'credits',
        summary: 'show the credit balance',
        load: async () => (await import('./account/credits.ts')).credits,
        tool: 'reads',
        children: [
          {
            name: 'history',
            summary: 'list charges, newest first',
            load: async () => (await import('./account/credits-history.ts')).creditsHistory,
            tool: 'reads',
          },
        ],
      },
      {
        name: 'api',
        summary: 'send any signed request',
        load: async () => (await import('./account/api.ts')).api,
      },
    ],
  },
  {
    title: 'This machine:',
    rows: [
      {
        name: 'doctor',
        summary: 'check this machine, the connection and the credentials',
        load: async () => (await import('./doctor/doctor.ts')).doctor,
      },
      {
        name: 'profile',
        summary: 'save services and their keys under names',
        children: [
          {
            name: 'add',
            summary: 'check a service and its key, and save them',
            load: async () => (await import('./profiles/profile-add.ts')).profileAdd,
          },
          {
            name: 'list',
            summary: 'list the profiles and mark the one in use',
            load: async () => (await import('./profiles/profile.ts')).profileList,
          },
          {
            name: 'use',
            summary: 'set the default profile',
            load: async () => (await import('./profiles/profile.ts')).profileUse,
          },
          {
            name: 'show',
            summary: 'show every setting and where it comes from',
            load: async () => (await import('./profiles/profile.ts')).profileShow,
          },
          {
            name: 'remove',
            summary: 'remove a profile and its secrets',
            load: async () => (await import('./profiles/profile.ts')).profileRemove,
          },
        ],
      },
      {
        name: 'engines',
        summary: 'choose, test and install the engines of the embedded service',
        children: [
          {
            name: 'list',
            summary: 'show installed and configured engines and their languages',
            load: async () => (await import('./engines/engines-list.ts')).enginesList,
            tool: 'reads',
          },
          {
            name: 'add',
            summary: 'use a server, a model or a program for a step',
            load: async () => (await import('./engines/engines-add.ts')).enginesAdd,
          },
          {
            name: 'remove',
            summary: 'stop using an engine for a step',
            load: async () => (await import('./engines/engines-remove.ts')).enginesRemove,
          },
          {
            name: 'test',
            summary: 'compare the configured engines with a short sample',
            load: async () => (await import('./engines/engines-test.ts')).enginesTest,
          },
          {
            name: 'install',
            summary: 'install the built-in engines that are missing',
            load: async () => (await import('./engines/engines-install.ts')).enginesInstall,
          },
        ],
      },
      {
        name: 'models',
        summary: 'download open models that recognize, translate and speak on this machine',
        children: [
          {
            name: 'install',
            summary: 'download models for your languages, try them and use them',
            load: async () => (await import('./models/models-install.ts')).modelsInstall,
          },
          {
            name: 'list',
            summary: 'show installed and available models, their languages, sizes and licences',
            load: async () => (await import('./models/models-list.ts')).modelsList,
          },
          {
            name: 'remove',
            summary: 'remove a model and its entry in engines.json',
            load: async () => (await import('./models/models-remove.ts')).modelsRemove,
          },
        ],
      },
      {
        name: 'serve',
        summary: 'run the embedded service for other programs',
        load: async () => (await import('./serve/serve.ts')).serve,
        children: [
          {
            name: 'health',
            summary: 'check the process that runs with a state folder',
            load: async () => (await import('./serve/serve-health.ts')).serveHealth,
          },
          {
            name: 'migrate',
            summary: 'move the account between a state folder and PostgreSQL',
            load: async () => (await import('./serve/serve-migrate.ts')).serveMigrate,
          },
        ],
        groups: [
          {
            name: 'keys',
            summary: 'create, list and revoke API keys of the embedded service',
            children: [
              {
                name: 'create',
                summary: 'create a key and show its secrets once',
                load: async () => (await import('./serve/serve-keys.ts')).serveKeysCreate,
              },
              {
                name: 'list',
                summary: 'list keys and their permissions',
                load: async () => (await import('./serve/serve-keys.ts')).serveKeysList,
              },
              {
                name: 'revoke',
                summary: 'revoke a key',
                load: async () => (await import('./serve/serve-keys.ts')).serveKeysRevoke,
              },
            ],
          },
        ],
      },
      {
        name: 'mcp',
        summary: 'offer vloc to AI agents as tools, over stdin and stdout',
        load: async () => (await import('./mcp/mcp.ts')).mcpCommand(COMMANDS),
      },
      {
        name: 'schema',
        summary: 'describe the interface, the commands and their output for programs',
        load: async () => (await import('./tool/schema.ts')).schemaCommand(COMMANDS),
      },
      {
        name: 'completion',
        summary: 'print the completion script for a shell',
        load: async () => (await import('./tool/completion.ts')).completion,
      },
      {
        name: 'upgrade',
        summary: 'show how to upgrade vloc',
        load: async () => (await import('./tool/upgrade.ts')).upgrade,
      },
    ],
  },
];

/** All rows in the order of the help. */
export const COMMAND_ROWS: readonly CommandRow[] = COMMAND_SECTIONS.flatMap((section) => section.rows);

/** All commands with their subcommands, in the order of the help. */
export const COMMANDS: readonly CalledCommand[] = COMMAND_ROWS.flatMap((row) => listCommands(row, []));

function listCommands(row: CommandRow, before: readonly string[]): CalledCommand[] {
  const words = [...before, row.name];
  if (!('load' in row)) return row.children.flatMap((child) => listCommands(child, words));
  const below = [...(row.children ?? []), ...(row.groups ?? [])].flatMap((each) => listCommands(each, words));
  return [{ words, leaf: row }, ...below];
}
