/** An `Io` with streams in memory, to run `main` inside a test. */
import { PassThrough, Readable } from 'node:stream';
import type { StopSignal } from '../../src/base/exit-codes.ts';
import type { Io, Output, TestSettings } from '../../src/commands/context/context.ts';

export interface TestIo {
  readonly io: Io & TestSettings;
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly send: (signal: StopSignal) => void;
  /** Codes passed to `abandon`. */
  readonly abandoned: number[];
}

export interface TestIoOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly stdin?: string;
  readonly now?: () => number;
  readonly platform?: NodeJS.Platform;
  readonly pace?: NonNullable<TestSettings['pace']>;
  readonly limits?: NonNullable<TestSettings['limits']>;
  readonly checkMs?: number;
  readonly trialMs?: number;
}

/** Creates streams that are not terminals. The environment contains only the given variables. */
export function createTestIo(options: TestIoOptions = {}): TestIo {
  const stdout = capture();
  const stderr = capture();
  const listeners = new Set<(signal: StopSignal) => void>();
  const abandoned: number[] = [];
  return {
    io: {
      stdin: Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]),
      stdout: stdout.stream,
      stderr: stderr.stream,
      env: options.env ?? {},
      cwd: options.cwd ?? process.cwd(),
      platform: options.platform ?? 'linux',
      now: options.now ?? Date.now,
      ...(options.pace === undefined ? {} : { pace: options.pace }),
      ...(options.limits === undefined ? {} : { limits: options.limits }),
      ...(options.checkMs === undefined ? {} : { checkMs: options.checkMs }),
      ...(options.trialMs === undefined ? {} : { trialMs: options.trialMs }),
      onSignal: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      abandon: (code) => abandoned.push(code),
    },
    stdout: stdout.text,
    stderr: stderr.text,
    send: (signal) => {
      for (const listener of [...listeners]) listener(signal);
    },
    abandoned,
  };
}

function capture(): { stream: Output; text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new PassThrough();
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}
