/** A command out of the journal of a batch, for some of its items. */
import type { RetryRun } from '../../batch/report/select-retries.ts';
import { Failure } from '../../errors/failure.ts';
import type { Context } from '../context.ts';
import { checkFolder } from '../job/check-folder.ts';
import { runJobs } from '../job/run-jobs.ts';
import { serviceFlagsOf } from '../printed-command.ts';
import { asksForStages } from '../stages/stage-options.ts';

/**
 * Runs the command as it was typed then, where it was typed, for these items only.
 * @throws Failure: that of the run, or `usage` for one that cannot be repeated from its record
 */
export async function rerunCommand(context: Context, { command, items }: RetryRun): Promise<void> {
  const { argv, cwd, profile, kind, operands } = command;
  const { options: asked } = command;
  const readers = [...operands, asked.body, asked.filesFrom, asked.filesFrom0, asked.sheet];
  if (readers.includes('-')) throw notRepeatable(argv);
  const { baseUrl } = serviceFlagsOf(argv);
  const then: Context = {
    ...context,
    io: { ...context.io, cwd },
    commandLine: argv,
    service: isNamed(context.service) ? context.service : { profile: profile ?? undefined, baseUrl },
  };
  const options = { ...command.options, retryFailed: true, renewExpired: true };
  await checkFolder(options, then.io);
  if (kind === 'auto_localization' && asksForStages(options)) {
    // What is done of them is left alone, whichever items they are.
    const { runStages } = await import('../stages/run-stages.ts');
    await runStages(then, operands, options);
    return;
  }
  await runJobs(kind, then, operands, options, new Set(items.map(({ key }) => key)));
}

function isNamed({ profile, baseUrl }: Context['service']): boolean {
  return profile !== undefined || baseUrl !== undefined;
}

function notRepeatable(argv: readonly string[]): Failure {
  return new Failure({
    category: 'usage',
    code: 'NOT_REPEATABLE',
    message: `the command read its input from stdin, which is not kept: ${argv.join(' ')}`,
    advice: 'Run it again with the same input and --retry-failed.',
  });
}
