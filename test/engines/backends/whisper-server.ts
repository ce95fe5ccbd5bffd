/**
 * whisper.cpp's own server with a model of random weights: a real peer for recognition over HTTP. Its words are nonsense, its
 * protocol is real. `.ci/whisper-server` builds it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inject } from 'vitest';
// Declares what is injected.
import type {} from '../../e2e/install.ts';
import { findFreePort } from '../../support/free-port.ts';
import { writeTinyWhisper } from './tiny-whisper.ts';

/** Path of the program; null if it is not built. Tests that need it are then skipped. */
export const WHISPER_SERVER = inject('whisperServer');

export interface WhisperServer {
  /** Address of the interface, such as `http://127.0.0.1:8000/v1`. */
  readonly url: string;
  readonly pid: number;
  /** The rows of its log. One per request has `processing 'NAME' (47840 samples, 3.0 sec), …, lang = en`. */
  readonly printed: readonly string[];
  stop(): Promise<void>;
}

const POLL_MS = 20;
/** Two more attempts if another program takes the free port in between. */
const ATTEMPTS = 3;

/** Starts a server on a free port; its owner stops it. @throws Error that contains what the program printed */
export async function startWhisperServer(): Promise<WhisperServer> {
  if (WHISPER_SERVER === null) throw new Error("whisper.cpp's server is not built");
  const model = tinyModel();
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    const started = await start(WHISPER_SERVER, model, port);
    if ('url' in started) return started;
    if (attempt === ATTEMPTS) throw new Error(`whisper.cpp's server ended: ${started.printed.join('\n')}`);
  }
}

async function start(
  program: string,
  model: string,
  port: number,
): Promise<WhisperServer | { readonly printed: readonly string[] }> {
  // Quick: one try for each window of 30 s, because random weights are never certain, and nothing kept between requests.
  const search = ['--no-fallback', '--best-of', '1', '--beam-size', '1', '--max-context', '0'];
  const options = ['--threads', '1', '--no-language-probabilities', ...search];
  const address = [
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
    '--inference-path',
    '/v1/audio/transcriptions',
  ];
  const child = spawn(program, ['--model', model, ...address, ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const printed: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => printed.push(line));
  const ended = once(child, 'close');
  while (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    if (await isReady(port)) {
      return { url: `http://127.0.0.1:${port}/v1`, pid: child.pid, printed, stop: () => stop(child, ended) };
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  await ended;
  return { printed };
}

/** It loads its model first, in a fraction of a second, and announces nothing that could be read immediately. */
async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/health`)).ok;
  } catch {
    return false;
  }
}

async function stop(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGKILL');
  await ended;
}

/** The model file, written once in a run of the suite. */
function tinyModel(): string {
  const path = join(inject('runFolder'), 'tiny-whisper.bin');
  if (!existsSync(path)) {
    // Under another name until it is whole: another test process may need it at the same time.
    const draft = `${path}.${process.pid}`;
    writeTinyWhisper(draft);
    renameSync(draft, path);
  }
  return path;
}
