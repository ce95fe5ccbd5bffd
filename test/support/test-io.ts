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

export interface TestIoOptions extends Partial<Omit<Io, 'stdin'>>, TestSettings {
  /** Text, or a stream that the test writes. */
  readonly stdin?: string | Io['stdin'];
}

/** Creates streams that are not terminals. The environment contains only the given variables. */
export function createTestIo({ stdin = Readable.from([]), ...settings }: TestIoOptions = {}): TestIo {
  const stdout = capture();
  const stderr = capture();
  const listeners = new Set<(signal: StopSignal) => void>();
  const abandoned: number[] = [];
  return {
    io: {
      stdin: typeof stdin === 'string' ? Readable.from([Buffer.from(stdin)]) : stdin,
      stdout: stdout.stream,
      stderr: stderr.stream,
      env: {},
      cwd: process.cwd(),
      platform: 'linux',
      now: Date.now,
      onSignal: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      abandon: (code) => abandoned.push(code),
      ...settings,
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
