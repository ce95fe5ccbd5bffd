/**
 * Packs the project and installs the tarball, once for all files that use it as it comes out of there. Takes ten seconds, or thirty
 * if it must be built again, in which the files before them run: they ask with `awaitPacked` when they need it. And finds whisper.cpp's
 * own server, which no other suite waits for: it may take minutes to compile.
 */
import { execFile } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { findOptional } from '../structure/run-folder.ts';

export interface Packed {
  /** Absolute paths; tests only read there. */
  readonly tarball: string;
  /** The prefix into which the tarball is installed, with blanks and letters beyond ASCII. */
  readonly prefix: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** Address that answers with `Packed` once it is there. */
    packed: string;
    /** Path of whisper.cpp's own server; null if it is not built. */
    whisperServer: string | null;
  }
}

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** Options for npm: what is there need not be asked for again, and nothing but errors is printed. */
export const QUIET = ['--prefer-offline', '--no-audit', '--no-fund', '--silent'];

/** What `dist` is built from. */
const SOURCES = ['src/**', 'build/**', '*.{js,json}'];

/** Whether nothing has changed since the last build. */
function isBuilt(): boolean {
  const changedAt = (path: string) =>
    statSync(join(PROJECT, path), { throwIfNoEntry: false })?.mtimeMs ?? Number.NaN;
  // The time of a folder is that of the last file that came or went.
  return globSync(SOURCES, { cwd: PROJECT }).every((path) => changedAt(path) < changedAt('dist/vloc.cjs'));
}

async function install(root: string): Promise<Packed> {
  const run = promisify(execFile);
  const packing = ['pack', '--pack-destination', root, ...QUIET];
  // Its scripts are `prepare`, which builds for half a minute of processor time, and `prepack`.
  if (isBuilt()) {
    await run('npm', ['run', '--silent', 'prepack'], { cwd: PROJECT });
    packing.push('--ignore-scripts');
  }
  const { stdout } = await run('npm', packing, { cwd: PROJECT });
  const tarball = join(root, stdout.trim().split('\n').at(-1) ?? '');
  const prefix = join(root, 'Präfix mit Leerzeichen 字幕');
  await run('npm', ['install', '--global', '--prefix', prefix, tarball, ...QUIET], { cwd: root });
  return { tarball, prefix };
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  project.provide('whisperServer', findOptional('whisper-server'));
  const root = mkdtempSync(join(tmpdir(), 'vloc-packed-'));
  const packed = install(root);
  const server = createServer(async (_request, response) => {
    const answer = await packed.catch((error: unknown) => ({ error: String(error) }));
    response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  project.provide('packed', `http://127.0.0.1:${address.port}/`);
  return async () => {
    server.close();
    // Not stopped on the way: half of a build would be left in the checkout.
    await packed.catch(() => undefined);
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  };
}

/** Waits until the tool is packed and installed. @throws Error that says why it could not be */
export async function awaitPacked(): Promise<Packed> {
  // Made by the server of `setup`.
  const answer = (await (await fetch(inject('packed'))).json()) as Packed | { readonly error: string };
  if ('error' in answer) throw new Error(`the tool was not packed: ${answer.error}`);
  return answer;
}
