/** Room for models: a model that does not fit into memory makes the whole machine slow, so it is not loaded. */
import { freemem, totalmem } from 'node:os';
import { JobFailure } from '../../protocol/job-failure.ts';

/** An engine that keeps models in memory. */
interface ModelHolder {
  /** Frees the models that no call uses. */
  unloadIdle(): Promise<void>;
  /** Whether a call uses a model, which can be freed afterwards. */
  isBusy(): boolean;
}

/** The memory for models, shared by all engines of a process. */
export interface ModelMemory {
  readonly holders: Set<ModelHolder>;
  /**
   * Waits until a model fits: frees idle models of all engines first, then waits for busy ones.
   * @param name of the engine, for messages
   * @returns a function to call when the model is loaded or its process has ended
   * @throws JobFailure if it does not fit beside the other programs of the machine, or the signal's reason
   */
  reserve(name: string, bytes: number, signal: AbortSignal): Promise<() => void>;
  /** Reports that a model became idle or was freed. */
  notify(): void;
}

/** @param available bytes that a program could use without swapping */
export function createModelMemory(available: () => number): ModelMemory {
  const holders = new Set<ModelHolder>();
  /** Bytes of models that are being loaded, which the system still counts as available. */
  let loading = 0;
  let change = Promise.withResolvers<void>();
  const hasRoom = (bytes: number) => available() - loading >= bytes;
  return {
    holders,
    async reserve(name, bytes, signal) {
      while (!hasRoom(bytes)) {
        const next = change.promise;
        await Promise.all([...holders].map((holder) => holder.unloadIdle()));
        if (hasRoom(bytes)) break;
        if (loading === 0 && ![...holders].some((holder) => holder.isBusy())) {
          throw shortageFailure(name, bytes, available());
        }
        await untilAborted(next, signal);
      }
      loading += bytes;
      let isReserved = true;
      return () => {
        if (!isReserved) return;
        isReserved = false;
        loading -= bytes;
        this.notify();
      };
    },
    notify() {
      change.resolve();
      change = Promise.withResolvers();
    },
  };
}

async function untilAborted(change: Promise<void>, signal: AbortSignal): Promise<void> {
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    signal.throwIfAborted();
    await Promise.race([change, stopped.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function shortageFailure(name: string, bytes: number, available: number): JobFailure {
  const [needed, free] = [bytes, available].map((each) => `${(each / 1e9).toFixed(1)} GB`);
  return new JobFailure(
    'ENGINE_ERROR',
    `${name} needs about ${needed} of memory, and ${free} are available; close other programs or use a smaller model (if it needs less, set "memoryMib" in engines.json)`,
    { permanent: true },
  );
}

/** On macOS the free memory leaves out what the system gives back on request, so only all of it can be compared. */
const systemMemory = () => (process.platform === 'darwin' ? totalmem() : freemem());

/** Model memory of this process. A container may have less than its machine. */
export const MODEL_MEMORY: ModelMemory = createModelMemory(() =>
  Math.min(systemMemory(), process.constrainedMemory() || Number.POSITIVE_INFINITY),
);

/**
 * Bytes that a model takes for each byte of its files, and those of its process: estimates. Parakeet's 670 MB are published
 * to take 1.1 GB; a worker of llama with a model of some kilobytes took 101 MB here.
 */
const BYTES_PER_BYTE = 1.5;
const PROCESS_BYTES = 100e6;

/** Returns the memory of a model in bytes: `memoryMib` of its entry, else an estimate by the size of its files. */
export function memoryOf(entry: { readonly memoryMib?: number | undefined }, fileBytes: number): number {
  return entry.memoryMib === undefined
    ? BYTES_PER_BYTE * fileBytes + PROCESS_BYTES
    : entry.memoryMib * 1024 * 1024;
}
