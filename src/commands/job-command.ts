/** One builder for the five job commands: all that differs comes from the table of kinds. */
import { givesSubtitles } from '../batch/plan/delivery.ts';
import { type Command, defineCommand, type Example, type OptionTable } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import type { JobKind } from '../protocol/kind-names.ts';
import { KINDS } from '../protocol/kinds.ts';
import { checkFolder } from '../workflow/jobs/check-folder.ts';
import { jobOptions, STDOUT, SUBTITLE_FORMAT_OPTION } from '../workflow/jobs/job-options.ts';
import { OUTCOME_FIELDS } from '../workflow/jobs/outcome.ts';
import { runJobs } from '../workflow/jobs/run-jobs.ts';
import { showPlan } from '../workflow/jobs/show-plan.ts';
import { watchJobs } from '../workflow/jobs/watch-jobs.ts';

const OPERANDS = {
  video: {
    name: 'input',
    count: 'any',
    help: 'video files, folders, globs, https addresses or ids of ready uploads',
  },
  subtitle: {
    name: 'input',
    count: 'any',
    help: 'SRT, WebVTT or ASS files, JSON files of lines, folders, globs, https addresses, ids of ready uploads or of recognition and translation jobs, - for stdin',
  },
} as const;

/** What a command has beside what its kind gives it. */
export interface JobCommandExtras {
  /** Paragraphs of the help. */
  readonly notes?: readonly string[];
  readonly options?: OptionTable;
  /** Another way to run the command; null for options that do not ask for it. */
  readonly divert?: (
    context: Context,
    operands: readonly string[],
    options: Readonly<Record<string, unknown>>,
  ) => Promise<number | null>;
}

/** Makes the command of a kind; `examples` are shown by its help. */
export function jobCommand(
  kind: JobKind,
  examples: readonly Example[],
  { notes = [], options: own = {}, divert }: JobCommandExtras = {},
): Command {
  return defineCommand({
    operands: OPERANDS[KINDS[kind].input],
    options: { ...jobOptions(kind), ...formatOptions(kind), ...own },
    fields: () => OUTCOME_FIELDS,
    examples,
    notes: [
      ...notes,
      WATCH_NOTE,
      'Exit codes: `vloc help exit-codes`. Ctrl-C stops waiting, not the jobs, and prints how to continue.',
    ],
    run: async (context, operands, options) => {
      await checkFolder(options, context.io);
      const diverted = (await divert?.(context, operands, options)) ?? null;
      if (diverted !== null) return diverted;
      if (options.out === STDOUT) return runToStdout(kind, context, operands, options);
      return runAs(options)(kind, context, operands, options);
    },
  });
}

/** The same run with a folder that nobody sees in place of stdout. */
async function runToStdout(
  ...[kind, context, operands, options]: Parameters<typeof runJobs>
): Promise<number> {
  const stdout = await import('../workflow/jobs/stdout-result.ts');
  stdout.checkStdout(context, options);
  stdout.checkOneFile(kind);
  const { io, content } = await stdout.keepStdin(kind, context.io, operands);
  const out = await stdout.stdoutFolder(context, kind, operands, options, content);
  // The files in the folder are vloc's own; a result of other inputs is made again.
  const { name: _name, skipExisting: _skip, ...rest } = options;
  const placed = { ...rest, out, clobber: true };
  return stdout.writeResult({ ...context, io }, (silent) =>
    runJobs(kind, silent, operands, placed, null, stdout.checkOneResult),
  );
}

const WATCH_NOTE =
  'With --watch every operand is a folder; a file in it or below it is taken once it has stayed the same for two seconds. ' +
  'Unusable files are reported and skipped; temporary failures are retried later. Ctrl-C stops it; run the same command ' +
  'again to continue.';

function runAs({ watch, dryRun }: Readonly<Record<string, unknown>>): typeof watchJobs {
  if (watch === true) return watchJobs;
  return dryRun === true ? showPlan : runJobs;
}

/** Kinds that give subtitles can write them in other formats than the service's own. */
function formatOptions(kind: JobKind): OptionTable {
  return givesSubtitles(kind) ? SUBTITLE_FORMAT_OPTION : {};
}
