/** One builder for the five job commands: all that differs comes from the table of kinds. */
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { type Command, defineCommand, type Example } from '../command.ts';
import { jobOptions } from './job-options.ts';
import { OUTCOME_FIELDS } from './outcome.ts';
import { runJobs } from './run-jobs.ts';
import { showPlan } from './show-plan.ts';

const OPERANDS = {
  video: {
    name: 'input',
    count: 'any',
    help: 'video files, folders, globs, https addresses or ids of ready uploads',
  },
  subtitle: {
    name: 'input',
    count: 'any',
    help: 'SRT files, JSON files of lines, folders, globs, https addresses, ids of ready uploads or of recognition and translation jobs, - for stdin',
  },
} as const;

/** Makes the command of a kind; `examples` are shown by its help. */
export function jobCommand(
  kind: JobKind,
  examples: readonly Example[],
  notes: readonly string[] = [],
): Command {
  return defineCommand({
    operands: OPERANDS[KINDS[kind].input],
    options: jobOptions(kind),
    fields: OUTCOME_FIELDS,
    examples,
    notes: [
      ...notes,
      'Exit codes: `vloc help exit-codes`. Ctrl-C stops the waiting, not the jobs, and prints how to go on.',
    ],
    run: (context, operands, options) =>
      options.dryRun === true
        ? showPlan(kind, context, operands, options)
        : runJobs(kind, context, operands, options),
  });
}
