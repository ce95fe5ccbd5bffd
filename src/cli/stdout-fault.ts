/** What becomes of data that stdout does not take: a reader that has had enough is fine, a full disk is not. */
import { Failure } from '../client/failure.ts';
import type { Output } from '../commands/io.ts';

export interface StdoutWatch {
  /** Resolves to what has kept data from stdout so far; null while nothing has. */
  fault(): Promise<Failure | null>;
  /** Throws that, when there is something. */
  check(): Promise<void>;
}

/** Watches the stream; to be called before the first thing is written to it. */
export function watchStdout(stdout: Output): StdoutWatch {
  let fault: Failure | null = null;
  stdout.on('error', (error) => {
    fault ??= describeFault(error);
  });
  const find = async () => {
    // Node tells of a failed write one tick after it.
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

/** What the command met goes along: only one of the two decides the exit code. */
export function withOwnFailure(fault: Failure, own: Failure): Failure {
  if (own === fault) return fault;
  const { code, message, advice, jobId, errors = [] } = own.facts;
  const detail = advice === undefined ? message : `${message}. ${advice}`;
  return fault.with({
    errors: [{ pointer: code, detail }, ...errors],
    ...(jobId === undefined ? {} : { jobId }),
  });
}

const REASONS: Readonly<Record<string, readonly [reason: string, advice: string]>> = {
  ENOSPC: ['the disk is full', 'Make room there'],
  EDQUOT: ['your quota on that disk is used up', 'Make room there'],
  EFBIG: ['the file would be larger than your limits allow', 'Raise the limit with `ulimit -f`'],
  EIO: ['the disk or terminal reports an error', 'Check it'],
};

/** Null for a reader such as `head` that has had enough: that is no failure of ours. */
export function describeFault(error: NodeJS.ErrnoException): Failure | null {
  if (error.code === 'EPIPE') return null;
  const [reason, advice] = REASONS[error.code ?? ''] ?? [`the system answers ${error.code}`, 'Check it'];
  return new Failure(
    {
      category: 'disk',
      code: 'STDOUT_UNWRITABLE',
      message: `stdout cannot be written: ${reason}; the data on it are not whole`,
      advice: `${advice}, or send the output elsewhere; then run the same command again.`,
    },
    { cause: error },
  );
}
