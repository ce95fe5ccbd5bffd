/**
 * Setup before a run of the suite: creates one folder for all its files, removed at the end, and in CI checks that no
 * test is skipped.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Absolute path. Every test process creates its own folder below it. */
    runFolder: string;
    /** Path of whisper.cpp's own server; null if it could not be built. */
    whisperServer: string | null;
  }
}

/**
 * Tests that need strace, a browser or a shell are skipped if it is missing. In CI that would hide a failure.
 * @returns what the script prints @throws Error if something is missing; the script says what
 */
function check(script: 'packages' | 'whisper-server'): string {
  return execFileSync('sh', [join(import.meta.dirname, '../../.ci', script), '--check'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim();
}

function findWhisperServer(isRequired: boolean): string | null {
  try {
    return check('whisper-server');
  } catch (error) {
    if (isRequired) throw error;
    return null; // tests that need it are skipped
  }
}

/** @throws Error in CI, if a program that tests need is not installed */
export default function setup(project: TestProject): () => void {
  const isRequired = process.env.CI !== undefined;
  if (isRequired) check('packages');
  project.provide('whisperServer', findWhisperServer(isRequired));
  const folder = mkdtempSync(join(tmpdir(), 'vloc-test-'));
  project.provide('runFolder', folder);
  // The children of tests load the same sources hundreds of times. With a compile cache, they start in a third of the
  // time.
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled');
  // Children of tests may still be ending, and write once more into the folder while it is removed.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
