/** Holds media work and makes it fail, for tests: a gate in front of the engines. */
import type { Engines, Products, Tasks } from '../../engines/engine.ts';
import type { Work } from '../../media/work.ts';
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';

export interface MediaGate {
  /** Work that starts from now on waits until it is released or stopped. */
  hold(): void;
  release(): void;
  /** The next attempts throw these, one each; before a hold. */
  failNext(errors: readonly Error[]): void;
  state(): { readonly held: boolean; readonly waiting: number; readonly failures: number };
  /** Returns the same engines behind this gate. */
  guard(engines: Engines): Engines;
}

type Runner<K extends JobKind> = (task: Tasks[K], work: Work) => Promise<Products[K]>;

export function createMediaGate(): MediaGate {
  const errors: Error[] = [];
  let hold: { readonly promise: Promise<void>; readonly open: () => void } | null = null;
  let waiting = 0;

  async function pass({ signal }: Work): Promise<void> {
    const error = errors.shift();
    if (error !== undefined) throw error;
    if (hold === null) return;
    waiting += 1;
    try {
      await Promise.race([hold.promise, untilAborted(signal)]);
    } finally {
      waiting -= 1;
    }
  }

  return {
    hold() {
      if (hold !== null) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      hold = { promise, open: resolve };
    },
    release() {
      hold?.open();
      hold = null;
    },
    failNext: (next) => void errors.push(...next),
    state: () => ({ held: hold !== null, waiting, failures: errors.length }),
    guard(engines) {
      const guarded = <K extends JobKind>(kind: K): [K, Runner<K>] => [
        kind,
        async (task, work) => {
          await pass(work);
          return engines.run[kind](task, work);
        },
      ];
      // Each kind has the runner of its own type.
      return { ...engines, run: Object.fromEntries(JOB_KIND_NAMES.map(guarded)) as Engines['run'] };
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
