/** How a job command goes about its batch: options, and what they mean. */
import type { RunOptions } from '../../batch/run/batch.ts';
import { inGroup } from '../../context/command.ts';
import { Failure } from '../../errors/failure.ts';
import { LIMITS } from '../../protocol/limits.ts';

export const RUN_OPTIONS = {
  ...inGroup('Limits:', {
    jobs: {
      type: 'number',
      value: 'n',
      help: `jobs that may run at a time (default: ${LIMITS.concurrentTasks}, the limit of the service)`,
    },
    maxCredits: {
      type: 'number',
      value: 'n',
      help: 'send no job that would bring the credits of this command above n',
    },
    maxDuration: {
      type: 'duration',
      value: 'time',
      help: 'send no new job after 90s, 30m, 2h; those that run are waited for',
    },
  }),
  ...inGroup('Job:', {
    fresh: { type: 'flag', help: 'make new jobs, charged again, whatever was done here before' },
    retryFailed: { type: 'flag', help: 'also retry items that failed permanently' },
    rebuild: {
      type: 'flag',
      help: 'continue jobs that the service has and the record of the folder lacks, also those made for other folders',
    },
  }),
} as const;

type Options = Readonly<Record<string, unknown>>;

/** @throws Failure of category usage for a number that makes no sense */
export function readRunOptions(options: Options): RunOptions {
  const jobs = numberOf(options.jobs) ?? LIMITS.concurrentTasks;
  if (!Number.isInteger(jobs) || jobs < 1) throw wrong('--jobs', 'a whole number from 1');
  const maxCredits = numberOf(options.maxCredits);
  if (maxCredits !== null && !(maxCredits >= 0)) throw wrong('--max-credits', 'a number from 0');
  return {
    jobs,
    maxCredits,
    maxDurationMs: numberOf(options.maxDuration),
    timeoutMs: numberOf(options.timeout),
    fresh: options.fresh === true,
    retryFailed: options.retryFailed === true,
    renewExpired: options.renewExpired === true,
    rebuild: options.rebuild === true,
    detach: options.detach === true,
  };
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function wrong(flag: string, takes: string): Failure {
  return new Failure({
    category: 'usage',
    code: 'USAGE',
    message: `${flag} takes ${takes}`,
    advice: 'Nothing was sent; correct it.',
  });
}
