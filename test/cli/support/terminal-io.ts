/** An `Io` whose stderr is a terminal of a size that the test sets, with time that the test moves. */
import { PassThrough } from 'node:stream';
import { loadStyle, type Style } from '../../../src/cli/terminal/style.ts';
import type { Io } from '../../../src/commands/context/context.ts';
import { createTestIo } from '../../support/test-io.ts';
import { createVirtualScreen, type VirtualScreen } from './virtual-screen.ts';

export interface TerminalIo {
  readonly io: Io;
  readonly style: Style;
  readonly screen: VirtualScreen;
  /** Everything that was written, one entry for each write. */
  readonly writes: readonly string[];
  readonly resize: (columns: number, rows: number) => void;
  /** Calls back as a timer would while the time passes. */
  readonly repeat: (everyMs: number, call: () => void) => () => void;
  readonly pass: (ms: number) => void;
}

/** Where the clock of these tests begins; any moment will do. */
export const START_MS = Date.parse('2026-11-21T02:00:00.000Z');

const COLOURLESS = await loadStyle(createTestIo().io, 'never');

export function createTerminalIo(columns = 100, rows = 24): TerminalIo {
  const screen = createVirtualScreen(columns, rows);
  const writes: string[] = [];
  const timers = new Set<{ everyMs: number; dueMs: number; call: () => void }>();
  let now = START_MS;
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns, rows });
  stderr.on('data', (chunk: Buffer) => {
    writes.push(chunk.toString('utf8'));
    screen.write(chunk.toString('utf8'));
  });
  const { io } = createTestIo({ now: () => now });
  return {
    io: { ...io, stderr },
    style: COLOURLESS,
    screen,
    writes,
    resize: (newColumns, newRows) => {
      screen.resize(newColumns, newRows);
      Object.assign(stderr, { columns: newColumns, rows: newRows });
    },
    repeat: (everyMs, call) => {
      const timer = { everyMs, dueMs: now + everyMs, call };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    pass: (ms) => {
      for (const end = now + ms; ; ) {
        const [next] = [...timers].sort((left, right) => left.dueMs - right.dueMs);
        if (next === undefined || next.dueMs > end) {
          now = end;
          return;
        }
        now = next.dueMs;
        next.dueMs += next.everyMs;
        next.call();
      }
    },
  };
}
