/** jq expressions over the JSON of a run. The interpreter is started when an expression is given. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type Failure, usageFailure } from '../base/failure.ts';
import { orAborted } from '../base/together.ts';
import type { JqAnswer, JqCall } from './jq-worker.ts';

export interface JqFilter {
  /**
   * The results of the expression for one JSON document: the JSON of one value each.
   * @throws Failure of category usage when it does not fit the data, or the data are too large for it; the reason of the signal
   */
  apply(json: string): Promise<readonly string[]>;
  /** Ends the interpreter. */
  close(): Promise<void>;
}

/** The run whose output is filtered. */
export interface JqRun {
  /** Also ends an expression that never ends. */
  readonly signal: AbortSignal;
  /** What to do about a failure after the command, which has done its work by then. */
  readonly advice: string;
}

/** The interpreter passes a document over its stack, which is little larger. */
const LARGEST_BYTES = 900_000;

/** The interpreter copies all of its output for each byte of it: short pieces keep that from growing with its square. */
const PIECE_CHARACTERS = 32_768;

/** For output of a run that was stopped: expressions that end take milliseconds, and a second on a very busy machine. */
const AFTER_STOP_MS = 3_000;

/**
 * Compiles an expression before anything is sent.
 * @throws Failure of category usage with jq's own words
 */
export async function compileJq(expression: string, { signal, advice }: JqRun): Promise<JqFilter> {
  const interpreter = startInterpreter(signal);
  // `empty` returns nothing: the expression is compiled and never run.
  const compiled = await interpreter.run({ program: `empty | ${expression}`, flags: [] });
  if ('failed' in compiled) {
    await interpreter.close();
    throw jqInvalidFailure(expression, compiled.failed);
  }
  return {
    async apply(json) {
      if (Buffer.byteLength(json) > LARGEST_BYTES) throw jqTooLargeFailure(json, advice);
      let text = '';
      for (let from = 0; ; from += PIECE_CHARACTERS) {
        const piece = `.[${from}:${from + PIECE_CHARACTERS}]`;
        // The line break ends a comment that the expression may end with.
        const program = `[$document | ${expression}\n| tojson] | join("\\n") | [length, ${piece}]`;
        const answer = await interpreter.run({ program, flags: ['--argjson', 'document', json] });
        if ('failed' in answer) throw jqUnfitFailure(answer.failed, advice);
        if (answer.printed === '') throw jqUnfitFailure('it halts', advice);
        const [length, part]: [number, string] = JSON.parse(answer.printed);
        text += part;
        if (from + PIECE_CHARACTERS >= length) break;
      }
      return text === '' ? [] : text.split('\n');
    },
    close: interpreter.close,
  };
}

interface Interpreter {
  /** Runs one program at a time. @throws the reason of the signal, if the program does not end soon after it */
  run(call: JqCall): Promise<JqAnswer>;
  close(): Promise<void>;
}

function startInterpreter(signal: AbortSignal): Interpreter {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'cjs';
  // What it prints itself is only that it has failed.
  const options = { stdout: true, stderr: true };
  const worker = new Worker(new URL(`./jq-worker.${ending}`, import.meta.url), options);
  const late = stopLater(signal);
  const close = async () => {
    await worker.terminate();
  };
  // It keeps the process alive only while it works.
  worker.unref();
  return {
    async run(call) {
      worker.ref();
      try {
        const answered = once(worker, 'message');
        worker.postMessage(call);
        const [answer]: JqAnswer[] = await orAborted(answered, late);
        return answer ?? { failed: '' };
      } catch (error) {
        await close();
        throw error;
      } finally {
        worker.unref();
      }
    },
    close,
  };
}

/** A signal that is aborted for the same reason, a moment later. */
function stopLater(signal: AbortSignal): AbortSignal {
  const late = new AbortController();
  const stop = async () => {
    await delay(AFTER_STOP_MS, undefined, { ref: false });
    late.abort(signal.reason);
  };
  if (signal.aborted) void stop();
  else signal.addEventListener('abort', stop, { once: true });
  return late.signal;
}

/** jq's reason, without where in its own program; of several lines the first. */
function shortenReason(said: string): string {
  if (/^Aborted\(/.test(said)) return 'it takes too much memory';
  const [first = ''] = said.replace(/^.*?jq: error\s*/s, '').split('\n');
  return first
    .replace(/^(\(at [^)]*\)( \(not a string\))?)?:\s*/, '')
    .replace(/ \(Unix shell quoting issues\?\).*$/, '');
}

function jqInvalidFailure(expression: string, said: string): Failure {
  return usageFailure(
    'JQ_INVALID',
    `--jq ${expression} is not a valid jq expression: ${shortenReason(said)}`,
    "Nothing was sent. Quote the expression for the shell, for example --jq '.data[].id'.",
  );
}

function jqUnfitFailure(said: string, advice: string): Failure {
  return usageFailure(
    'JQ_DOES_NOT_FIT',
    `the jq expression does not fit the data: ${shortenReason(said)}`,
    advice,
  );
}

function jqTooLargeFailure(json: string, advice: string): Failure {
  return usageFailure(
    'JQ_TOO_LARGE',
    `the data are too large for --jq: ${Math.ceil(json.length / 1000)} kB`,
    `${advice} Use --output ndjson, which is filtered line by line, or pipe --output json into jq.`,
  );
}
