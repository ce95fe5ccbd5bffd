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
  }
}

/** Tests that need strace, a browser or a shell are skipped if it is missing. In CI that would hide a failure. */
function requirePrograms(): void {
  execFileSync('sh', [join(import.meta.dirname, '../../.ci/packages'), '--check'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** @throws Error in CI, if a program that tests need is not installed */
export default function setup(project: TestProject): () => void {
  if (process.env.CI !== undefined) requirePrograms();
  const folder = mkdtempSync(join(tmpdir(), 'vloc-test-'));
  project.provide('runFolder', folder);
  // The children of tests load the same sources hundreds of times. With a compile cache, they start in a third of the
  // time.
  process.env.NODE_COMPILE_CACHE ??= join(folder, 'compiled');
  // Children of tests may still be ending, and write once more into the folder while it is removed.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
