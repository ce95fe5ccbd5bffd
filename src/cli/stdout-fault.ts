/** Failed writes to stdout: a reader that has closed its end is fine, a full disk is not. */

import { EXIT_CODES } from '../base/exit-codes.ts';
import { diskFailure, type Failure } from '../base/failure.ts';
import { describeDisk, errorCode } from '../base/system-error.ts';
import type { Io, Output } from '../commands/context/context.ts';
import { reportFailure } from './report-failure.ts';

interface StdoutWatch {
  /** Resolves to the failure of the writes so far; null without one. */
  fault(): Promise<Failure | null>;
  /** Throws that failure, if there is one. */
  check(): Promise<void>;
}

/** Watches the stream; to be called before the first thing is written to it. */
export function watchStdout(stdout: Output): StdoutWatch {
  let fault: Failure | null = null;
  stdout.on('error', (error) => {
    fault ??= stdoutFailure(error);
  });
  const find = async () => {
    // Node reports a failed write one tick after it.
    await new Promise((resolve) => setImmediate(resolve));
    return fault;
  };
  return {
    fault: find,
    check: async () => {
      const found = await find();
      if (found !== null) throw found;
    },
  };
}

/** Includes the failure of the command: only one of the two decides the exit code. */
export function withOwnFailure(fault: Failure, own: Failure): Failure {
  if (own === fault) return fault;
  const { code, message, advice, jobId, errors = [] } = own.facts;
  const detail = advice === undefined ? message : `${message}. ${advice}`;
  return fault.with({
    errors: [{ pointer: code, detail }, ...errors],
    ...(jobId === undefined ? {} : { jobId }),
  });
}

/** Null for a reader such as `head` that has closed its end: that is not an error. */
function stdoutFailure(error: NodeJS.ErrnoException): Failure | null {
  if (error.code === 'EPIPE') return null;
  const { reason, advice } = describeDisk(errorCode(error));
  return diskFailure(
    'STDOUT_UNWRITABLE',
    `cannot write to stdout: ${reason}; the output is incomplete`,
    `${advice} Or send the output elsewhere.`,
    {},
    { cause: error },
  );
}

/** Reports why the answer could not be written, and returns the exit code. */
export async function endUnwritten(error: Error, io: Io): Promise<number> {
  const failure = stdoutFailure(error);
  if (failure === null) return 0;
  await reportFailure(failure, io, { output: undefined, jq: undefined, fields: [], color: 'auto' });
  return EXIT_CODES[failure.facts.category].code;
}
