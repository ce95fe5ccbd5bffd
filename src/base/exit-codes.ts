/** The meaning of the exit codes. The help topic and the documents are generated from this table. */
import type { FailureCategory } from './failure.ts';

interface ExitCode {
  readonly code: number;
  readonly meaning: string;
  readonly again: string;
}

/** Signals that ask a run to stop. Node undoes that `nohup` ignores the first. */
export const STOP_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

export const EXIT_CODES = {
  done: { code: 0, meaning: 'done, also with an empty list', again: '' },
  refused: {
    code: 1,
    meaning: 'refused by the service, or subtitles differ; a retry does not help',
    again: 'no',
  },
  usage: {
    code: 2,
    meaning: 'wrong usage or a failed local check; nothing was sent',
    again: 'fix it, then rerun',
  },
  partial: { code: 3, meaning: 'some of several inputs failed', again: 'yes: only those run' },
  configuration: {
    code: 4,
    meaning: 'authentication, configuration or a missing engine',
    again: 'fix it, then rerun',
  },
  job: { code: 5, meaning: 'the job failed or was cancelled', again: 'if it says retryable' },
  credits: { code: 6, meaning: 'credits or quota are used up', again: 'after a top-up' },
  temporary: { code: 7, meaning: 'network, 429 or 5xx, after all retries', again: 'yes' },
  timeout: { code: 8, meaning: 'still running at --timeout', again: 'vloc jobs wait ID' },
  expired: { code: 9, meaning: 'the result or the record has expired', again: 'a new job' },
  disk: { code: 10, meaning: 'a disk or file system error on this machine', again: 'after freeing space' },
  SIGHUP: {
    code: 129,
    meaning: 'SIGHUP: the terminal was closed; jobs continue',
    again: 'the printed command',
  },
  SIGINT: { code: 130, meaning: 'Ctrl-C; jobs continue', again: 'the printed command' },
  SIGTERM: { code: 143, meaning: 'SIGTERM; jobs continue', again: 'the printed command' },
} as const satisfies Record<FailureCategory | 'done' | StopSignal, ExitCode>;
