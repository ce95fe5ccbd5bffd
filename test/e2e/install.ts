/** Packs the project and installs the tarball, once for all files that use it as it comes out of there. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Absolute paths; tests only read there. */
    packed: {
      readonly tarball: string;
      /** The folder into which the tarball is installed. */
      readonly home: string;
    };
  }
}

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs npm in a folder; what it needs comes out of its cache where it is there. Returns what it prints. */
export function npm(args: readonly string[], cwd: string): string {
  return execFileSync('npm', [...args, '--prefer-offline', '--no-audit', '--no-fund', '--silent'], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

export default function setup(project: TestProject): () => void {
  const root = mkdtempSync(join(tmpdir(), 'vloc-packed-'));
  const printed = npm(['pack', '--pack-destination', root], PROJECT);
  const tarball = join(root, printed.trim().split('\n').at(-1) ?? '');
  const home = join(root, 'installed');
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{"private":true}');
  npm(['install', tarball], home);
  project.provide('packed', { tarball, home });
  return () => rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
