/**
 * Keeps worker processes with loaded models: a call takes an idle one or starts another. Messages are one JSON object per
 * line in each direction. Native code can abort, which then ends a worker and not the service.
 */
import { tmpdir } from 'node:os';
import { ChildFailure, withoutPaths } from '../../media/programs/failures.ts';
import type { ChildInput } from '../../media/programs/programs.ts';
import type { EngineRun } from '../../media/work.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { MODEL_MEMORY } from './model-memory.ts';
import type { BackendParts } from './parts.ts';
import type { WorkerReply } from './serve-requests.ts';

/** Loading a large model takes about ten seconds, so it stays for a while after a job; it takes up to some GB of memory. */
const IDLE_MS = 5 * 60_000;

/** An idle worker ends within milliseconds, a graphics driver that writes its cache within a second. */
const ENDING_MS = 5_000;

/** A model that could not be loaded. Whoever can load it in another way tries that. */
export class LoadFailure extends JobFailure {
  /** What happened to the worker, such as `ended with signal SIGABRT (out of device memory)`. */
  readonly what: string;

  constructor(name: string, what: string, advice = '', cause: unknown = null) {
    super('ENGINE_ERROR', `${name} ${what}${advice}`, { cause, permanent: true });
    this.what = what;
  }
}

interface Workers<Request, Part> {
  /**
   * Sends a request to a worker and waits for its end.
   * @param onPart receives the parts of the result
   * @throws JobFailure that names the model, or the signal's reason
   */
  call(request: Request, signal: EngineRun['signal'], onPart?: (part: Part) => void): Promise<void>;
  /** The most memory that one of them has taken, in bytes; null before the first call ends. */
  peakBytes(): number | null;
  /** Ends all workers. */
  close(): Promise<void>;
}

interface Worker {
  readonly send: (request: unknown) => void;
  /** Receives each reply of the current request. */
  onReply: (reply: WorkerReply) => void;
  /** Whether it has loaded a model for the current request, or before. */
  isLoaded: boolean;
  /** Ends the reservation of its memory. */
  readonly onLoaded: () => void;
  /** Lets the process end when it is idle. */
  readonly end: () => void;
  /** Ends the process while it does anything. */
  readonly kill: () => void;
  /** Resolves with the reason when the process has ended. */
  readonly ended: Promise<unknown>;
}

interface WorkerFacts {
  /** Name of the backend, for messages. */
  readonly name: string;
  /** Path of the program that a worker runs; it serves requests with `serveRequests`. */
  readonly program: string;
  /** Time limit of a call, in seconds. */
  readonly timeout: number;
  /** Memory that the model takes, in bytes. */
  readonly bytes: number;
  /** Variables besides the minimal ones. */
  readonly env?: () => Promise<Readonly<Record<string, string>>>;
}

/** @template Part what the worker sends with `sendPart` */
export function createWorkers<Request, Part>(
  { name, program, timeout, bytes, env }: WorkerFacts,
  parts: BackendParts,
): Workers<Request, Part> {
  const { memory = MODEL_MEMORY } = parts;
  const all = new Set<Worker>();
  let peak: number | null = null;
  const idle: { worker: Worker; wake: AbortController }[] = [];
  const holder = { unloadIdle, isBusy: () => all.size > idle.length };

  const start = async (signal: AbortSignal): Promise<Worker> => {
    const variables = (await env?.()) ?? {};
    const onLoaded = await memory.reserve(name, bytes, signal);
    memory.holders.add(holder);
    const life = new AbortController();
    const connected = Promise.withResolvers<ChildInput>();
    const onLine = (line: string) => {
      if (line.startsWith('{')) worker.onReply(JSON.parse(line) as WorkerReply); // written by the worker, so trusted
    };
    const running = parts.programs.run(process.execPath, [program], {
      signal: life.signal,
      folder: tmpdir(), // it outlives the folder of a job
      stdin: { connect: connected.resolve },
      onLine,
      env: variables,
    });
    const kill = () => life.abort();
    const worker: Worker = {
      send: (request) => void connected.promise.then(({ write }) => write(`${JSON.stringify(request)}\n`)),
      onReply: () => {},
      isLoaded: false,
      onLoaded,
      end() {
        void connected.promise.then(({ close }) => close());
        const timer = setTimeout(kill, ENDING_MS);
        void worker.ended.then(() => clearTimeout(timer));
      },
      kill,
      ended: running
        .catch((error: unknown) => error)
        .finally(() => {
          all.delete(worker);
          onLoaded();
          memory.notify();
        }),
    };
    all.add(worker);
    return worker;
  };

  const take = async (signal: AbortSignal): Promise<Worker> => {
    for (let kept = idle.pop(); kept !== undefined; kept = idle.pop()) {
      kept.wake.abort();
      if (all.has(kept.worker)) return kept.worker;
    }
    return await start(signal);
  };

  async function unloadIdle(): Promise<void> {
    const ending = idle.splice(0).map(({ worker, wake }) => {
      wake.abort();
      worker.end();
      return worker.ended;
    });
    await Promise.all(ending);
  }

  const giveBack = (worker: Worker) => {
    const wake = new AbortController();
    const kept = { worker, wake };
    idle.push(kept);
    memory.notify();
    const unload = () => {
      const place = idle.indexOf(kept);
      if (place < 0) return; // taken again at the same moment
      idle.splice(place, 1);
      worker.end();
    };
    // Rejects if it is taken again.
    parts.sleep(IDLE_MS, wake.signal).then(unload, () => {});
  };

  return {
    async call(request, signal, onPart = () => {}) {
      signal.throwIfAborted();
      const worker = await take(signal);
      const outcome = Promise.withResolvers<'done' | 'timeout' | 'aborted' | { failed: string }>();
      worker.onReply = (reply) => {
        if (reply.type === 'loaded') {
          worker.isLoaded = true;
          worker.onLoaded();
        } else if (reply.type === 'part')
          onPart(reply.part as Part); // written by the worker of this backend
        else if (reply.type === 'done') {
          peak = Math.max(peak ?? 0, reply.peakBytes);
          outcome.resolve('done');
        } else outcome.resolve({ failed: reply.message });
      };
      const abort = () => outcome.resolve('aborted');
      signal.addEventListener('abort', abort, { once: true });
      const timer = setTimeout(() => outcome.resolve('timeout'), timeout * 1000);
      worker.send(request);
      const end = await Promise.race([outcome.promise, worker.ended.then((reason) => ({ reason }))]);
      signal.removeEventListener('abort', abort);
      clearTimeout(timer);
      if (end === 'done') return giveBack(worker);
      // A model that failed may be in any state, and native code that runs cannot be stopped in another way.
      worker.kill();
      await worker.ended;
      if (end === 'aborted') throw signal.reason;
      if (end === 'timeout') {
        throw workerFailure(
          `${name} did not finish within ${timeout} s; if it needs longer, set "timeout" in engines.json`,
        );
      }
      if ('failed' in end) {
        const what = `failed: ${shorten(end.failed)}`;
        throw worker.isLoaded ? workerFailure(`${name} ${what}`) : new LoadFailure(name, what);
      }
      throw workerCrashFailure(name, end.reason, worker.isLoaded);
    },
    peakBytes: () => peak,
    async close() {
      memory.holders.delete(holder);
      await unloadIdle();
      const ending = [...all].map((worker) => {
        worker.kill();
        return worker.ended;
      });
      await Promise.all(ending);
    },
  };
}

function workerFailure(message: string, cause: unknown = null): JobFailure {
  return new JobFailure('ENGINE_ERROR', message, { cause });
}

/** A process that ended unexpectedly: while it loaded a model, this model is broken, unless the memory was not enough. */
function workerCrashFailure(name: string, reason: unknown, isLoaded: boolean): JobFailure {
  if (!(reason instanceof ChildFailure)) return workerFailure(`${name} ended unexpectedly`, reason);
  const { endedBy, exitCode, lastWords } = reason;
  const how = endedBy === null ? `exit code ${exitCode}` : `signal ${endedBy}`;
  if (endedBy === 'SIGKILL') return workerFailure(`${name} was killed, possibly out of memory`, reason);
  const said = shorten(lastWords.split('\n').at(-1) ?? '');
  const what = `ended with ${how} while it ${isLoaded ? 'ran' : 'was loaded'}${said === '' ? '' : ` (${said})`}`;
  if (isLoaded) return workerFailure(`${name} ${what}`, reason);
  // An abort is the decision of a library, which says why: a driver and the memory are as likely as the files.
  const advice = endedBy === 'SIGABRT' ? '' : '; check that its files are complete';
  return new LoadFailure(name, what, advice, reason);
}

/** Where in its code a library failed: `model.cc:177 onnxruntime::Model::Model(const PathString&) `. */
const CODE_PLACE = /[\w/]*\.cc:\d+ [\w:~]+(\([^)]*\))? ?/g;

/** One row of what native code said, without folders and places in code. */
function shorten(text: string): string {
  const row = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  const plain = row
    .replace(/^what\(\): /, '')
    .replaceAll(CODE_PLACE, ' ')
    .replaceAll(/ +/g, ' ');
  return withoutPaths(plain).trim().slice(0, 300);
}
