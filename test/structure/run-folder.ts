/**
 * Setup before a run of the suite: creates one folder for all its files, removed at the end, and in CI checks that
 * the programs of tests are installed.
 */
import { execFileSync } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { afterDeath } from '../support/after-death.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Absolute path. Every test process creates its own folder below it. */
    runFolder: string;
    /** Folder with node-llama-cpp; null if it could not be installed. */
    llamaRuntime: string | null;
  }
}

/**
 * Tests that need strace, a browser or a shell are skipped if it is missing. In CI that would hide a failure.
 * @returns what the script prints @throws Error if something is missing; the script says what
 */
function check(script: 'packages' | 'whisper-server' | 'llama'): string {
  return execFileSync('sh', [join(import.meta.dirname, '../../.ci', script), '--check'], {
    encoding: 'utf8',
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
}

/** Path of what tests are skipped without. */
export function findOptional(script: 'whisper-server' | 'llama'): string | null {
  try {
    return check(script);
  } catch {
    return null;
  }
}

/** In memory, a write that must be safe on disk costs nothing; on a disk, the suite waits for such writes for minutes. */
const MEMORY = '/dev/shm';
/** Much more than the suite leaves in its folder, even with four times as many tests. */
const LEAST_FREE_BYTES = 8 * 1024 ** 3;

/** Creates the folder of a run: in memory if there is enough and programs can be run from there, and if TMPDIR names no other place. */
function makeRunFolder(): string {
  const name = 'vloc-test-';
  if (process.env.TMPDIR !== undefined) return mkdtempSync(join(tmpdir(), name));
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize >= LEAST_FREE_BYTES) {
      const folder = mkdtempSync(join(MEMORY, name));
      if (canRunPrograms(folder)) return folder;
      rmSync(folder, { recursive: true });
    }
  } catch {
    // Another system, or not ours to write to.
  }
  return mkdtempSync(join(tmpdir(), name));
}

/** False on a file system that is mounted with `noexec`, which `access` takes into account. */
function canRunPrograms(folder: string): boolean {
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(program);
  }
}

/** @throws Error in CI, if a program that tests need is not installed */
export default function setup(project: TestProject): () => void {
  if (process.env.CI !== undefined) {
    check('packages');
    check('llama');
  }
  project.provide('llamaRuntime', findOptional('llama'));
  const folder = makeRunFolder();
  project.provide('runFolder', folder);
  // The children of tests load the same sources hundreds of times. With a compile cache, they start in a third of the
  // time.
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled');
  // Children of tests may still be ending, and write once more into the folder while it is removed.
  const stopWatching = afterDeath('sleep 5; rm -rf "$1"', [folder]);
  return () => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    stopWatching();
  };
}
