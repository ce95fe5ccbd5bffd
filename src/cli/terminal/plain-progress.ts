/** Progress where stderr is no terminal: a line for each change of phase, and a sign of life in between. */
import type { Progress, Step } from '../../commands/context.ts';
import type { Io } from '../../commands/io.ts';
import { escapeControls } from './escape.ts';
import { describeStep } from './step-text.ts';

/** Often enough that a CI job does not count as hung, seldom enough that a log stays readable. */
export const HEARTBEAT_MS = 30_000;

/** Writes a line when the phase of a key changes, or when it was silent for half a minute. */
export function createPlainProgress(io: Pick<Io, 'stderr' | 'now'>): Progress {
  const last = new Map<string, { phase: string; at: number }>();
  const write = (key: string, text: string) => io.stderr.write(`${escapeControls(`${key}: ${text}`)}\n`);
  return {
    show: (key: string, step: Step) => {
      const before = last.get(key);
      const now = io.now();
      if (before?.phase === step.phase && now - before.at < HEARTBEAT_MS) return;
      last.set(key, { phase: step.phase, at: now });
      write(key, describeStep(step));
    },
    end: (key, _outcome, text) => {
      last.delete(key);
      write(key, text);
    },
    close: () => last.clear(),
  };
}
