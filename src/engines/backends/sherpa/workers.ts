/**
 * Keeps worker processes with loaded models: a call takes an idle one or starts another. Messages are one JSON object per
 * line in each direction.
 */
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Segment } from '../../../media/audio/segments.ts';
import { ChildFailure, withoutPaths } from '../../../media/programs/failures.ts';
import type { EngineRun } from '../../../media/work.ts';
import { JobFailure } from '../../../protocol/job-failure.ts';
import type { BackendParts } from '../parts.ts';
import type { TimedText } from '../transcript.ts';

/** Loading a large model takes about ten seconds, so it stays for a while after a job; it takes up to some GB of memory. */
const IDLE_MS = 5 * 60_000;

interface Workers {
  /**
   * Sends a request to a worker and waits for its end.
   * @param onUtterance receives the parts of a recognition
   * @throws JobFailure that names the model, or the signal's reason
   */
  call(
    request: WorkerRequest,
    signal: EngineRun['signal'],
    onUtterance?: (utterance: Utterance) => void,
  ): Promise<void>;
  /** Ends all workers. */
  close(): Promise<void>;
}

interface Worker {
  readonly send: (request: WorkerRequest) => void;
  /** Receives each reply of the current request. */
  onReply: (reply: WorkerReply) => void;
  /** Whether it has loaded a model for the current request, or before. */
  isLoaded: boolean;
  /** Ends the process. */
  readonly end: () => void;
  /** Resolves with the reason when the process has ended. */
  readonly ended: Promise<unknown>;
}

/**
 * @param name of the backend, for messages
 * @param timeout of a call in seconds
 */
export function createWorkers(name: string, timeout: number, parts: BackendParts): Workers {
  const all = new Set<Worker>();
  const idle: { worker: Worker; wake: AbortController }[] = [];

  const start = (): Worker => {
    const life = new AbortController();
    const connected = Promise.withResolvers<(text: string) => void>();
    const onLine = (line: string) => {
      if (line.startsWith('{')) worker.onReply(JSON.parse(line) as WorkerReply); // written by the worker, so trusted
    };
    const running = parts.programs.run(process.execPath, [workerPath()], {
      signal: life.signal,
      folder: tmpdir(), // it outlives the folder of a job
      stdin: { connect: connected.resolve },
      onLine,
    });
    const worker: Worker = {
      send: (request) => void connected.promise.then((write) => write(`${JSON.stringify(request)}\n`)),
      onReply: () => {},
      isLoaded: false,
      end: () => life.abort(),
      ended: running.catch((error: unknown) => error).finally(() => all.delete(worker)),
    };
    all.add(worker);
    return worker;
  };

  const take = (): Worker => {
    for (let kept = idle.pop(); kept !== undefined; kept = idle.pop()) {
      kept.wake.abort();
      if (all.has(kept.worker)) return kept.worker;
    }
    return start();
  };

  const giveBack = (worker: Worker) => {
    const wake = new AbortController();
    const kept = { worker, wake };
    idle.push(kept);
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
    async call(request, signal, onUtterance = () => {}) {
      signal.throwIfAborted();
      const worker = take();
      const outcome = Promise.withResolvers<'done' | 'timeout' | 'aborted' | { failed: string }>();
      worker.onReply = (reply) => {
        if (reply.type === 'loaded') worker.isLoaded = true;
        else if (reply.type === 'utterance') onUtterance(reply);
        else outcome.resolve(reply.type === 'done' ? 'done' : { failed: reply.message });
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
      worker.end();
      await worker.ended;
      if (end === 'aborted') throw signal.reason;
      if (end === 'timeout') {
        throw workerFailure(
          `${name} did not finish within ${timeout} s; if it needs longer, set "timeout" in engines.json`,
        );
      }
      if ('failed' in end)
        throw workerFailure(`${name} failed: ${shorten(end.failed)}`, null, !worker.isLoaded);
      throw workerCrashFailure(name, end.reason, worker.isLoaded);
    },
    async close() {
      for (const { wake } of idle.splice(0)) wake.abort();
      const ending = [...all].map((worker) => {
        worker.end();
        return worker.ended;
      });
      await Promise.all(ending);
    },
  };
}

function workerFailure(message: string, cause: unknown = null, permanent = false): JobFailure {
  return new JobFailure('ENGINE_ERROR', message, { cause, permanent });
}

/** A process that ended unexpectedly: while it loaded a model, this model is broken, unless the memory was not enough. */
function workerCrashFailure(name: string, reason: unknown, isLoaded: boolean): JobFailure {
  if (!(reason instanceof ChildFailure)) return workerFailure(`${name} ended unexpectedly`, reason);
  const { endedBy, exitCode, lastWords } = reason;
  const how = endedBy === null ? `exit code ${exitCode}` : `signal ${endedBy}`;
  if (endedBy === 'SIGKILL') return workerFailure(`${name} was killed, possibly out of memory`, reason);
  const said = shorten(lastWords.split('\n').at(-1) ?? '');
  const doing = isLoaded ? 'while it ran' : 'while it was loaded; check that its files are complete';
  return workerFailure(
    `${name} ended with ${how} ${doing}${said === '' ? '' : ` (${said})`}`,
    reason,
    !isLoaded,
  );
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

/** In the source tree the worker is beside this file; in the build it is beside the bundle, under another name. */
function workerPath(): string {
  const name = import.meta.url.endsWith('.ts') ? './worker.ts' : './sherpa-worker.js';
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Models by type, such as `whisper: { encoder, decoder }`, and settings of all types. */
export type ModelFiles = Readonly<
  Record<string, Readonly<Record<string, string | number>> | string | number>
>;

/** Configuration of a recognizer, as sherpa reads it. */
export interface RecognizerConfig {
  readonly featConfig: { readonly sampleRate: number; readonly featureDim: number };
  readonly modelConfig: ModelFiles;
}

/** Configuration of a voice, as sherpa reads it. */
export interface VoiceConfig {
  readonly model: ModelFiles;
  /** The most sentences at one time. */
  readonly maxNumSentences: number;
  /** Files with rules to read numbers and dates, separated by commas. */
  readonly ruleFsts?: string;
  readonly ruleFars?: string;
}

/** Settings of one text, for types of voices that have them. */
export interface SpeechSettings {
  /** Steps of a diffusion model: more steps sound better and take longer. */
  readonly numSteps: number;
  /** Settings by the names that the type gives them. */
  readonly extra: Readonly<Record<string, string>>;
}

/** The worker loads a model when a request needs another configuration than the one before. */
export type WorkerRequest =
  | {
      readonly type: 'recognize';
      readonly config: RecognizerConfig;
      /** 16 kHz mono WAV of 16-bit samples. */
      readonly voice: string;
      /** The parts of it to recognize, one after the other. */
      readonly ranges: readonly Segment[];
    }
  | {
      readonly type: 'speak';
      readonly config: VoiceConfig;
      readonly text: string;
      readonly speaker: number;
      readonly speed: number;
      readonly settings?: SpeechSettings | undefined;
      /** WAV to write. */
      readonly output: string;
    };

export interface Utterance {
  /** Index of its range. */
  readonly range: number;
  readonly text: string;
  readonly tokens: readonly string[];
  /** Start of each token in seconds from the start of the range; empty if the model does not time them. */
  readonly timestamps: readonly number[];
  /** Phrases that the model timed itself; empty for most types. Times in seconds from the start of the range. */
  readonly phrases: readonly TimedText[];
  /** The language that the model detected, such as `en` or `<|en|>`; empty if none. */
  readonly language: string;
}

export type WorkerReply =
  | { readonly type: 'loaded' }
  | ({ readonly type: 'utterance' } & Utterance)
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly message: string };
