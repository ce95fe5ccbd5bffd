/** What tests of programs of the user share. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BackendParts } from '../../../src/engines/backends/parts.ts';
import { createWav } from '../../../src/media/audio/wav.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { programs } from '../workspace.ts';

/** What backends are made with, on this machine. */
export function createParts(changes: Partial<BackendParts> = {}): BackendParts {
  return { programs, env: { PATH: process.env.PATH }, warn: () => {}, sleep: endless, ...changes };
}

/** A pause that only ends when it is aborted. */
function endless(_: number, signal: AbortSignal): Promise<void> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Writes a program of bash and returns its path. */
export function script(body: string, name = 'tool'): string {
  const path = join(makeFolder(), name);
  writeFileSync(path, `#!/usr/bin/env bash\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Writes a program of JavaScript and returns its path. */
export function nodeScript(body: string, name = 'tool.mjs'): string {
  const path = join(makeFolder(), name);
  writeFileSync(path, `#!${process.execPath}\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Each line of a file as a number, such as the process ids that a program noted. */
export function readNumbers(path: string): number[] {
  return readFileSync(path, 'utf8').trim().split('\n').map(Number);
}

/** Writes a 16 kHz mono WAV with noise at the given times in seconds, and returns its path. */
export async function soundFile(
  folder: string,
  seconds: number,
  bursts: readonly (readonly [number, number])[],
): Promise<string> {
  const rate = 16_000;
  const samples = new Int16Array(seconds * rate);
  let random = 1;
  for (const [from, to] of bursts) {
    for (let at = from * rate; at < to * rate; at += 1) {
      random = (random * 48_271) % 2_147_483_647; // the same noise in each run
      samples[at] = (random % 24_000) - 12_000;
    }
  }
  const path = join(folder, 'voice-16k.wav');
  const file = await createWav(path, { sampleRate: rate, channels: 1 });
  await file.write(samples);
  await file.close();
  return path;
}
