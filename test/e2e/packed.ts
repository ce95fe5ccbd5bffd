/** The tool as a user gets it: packed, and installed from the tarball. */
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rememberingPath } from '../support/remembered-programs.ts';
import { awaitPacked } from './install.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Installation {
  /** A folder of its own for the user's files; blanks and letters beyond ASCII in it must not matter. */
  readonly folder: string;
  readonly stateDir: string;
  /** The folder of the installed package. */
  readonly home: string;
  readonly program: string;
  /** Variables that every run gets; nothing of this process's own but PATH. */
  readonly env: Readonly<Record<string, string>>;
  run(...args: string[]): Promise<Finished>;
  /** The same with variables added or replaced. */
  runWith(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Finished>;
  remove(): void;
}

/** The sample, which every installation has in its folder as `sample.mp4`. */
export const SAMPLE = join(PROJECT, 'test/fixtures/sample.mp4');

/** A folder and a state of its own for the tool that is installed once for all files. */
export async function openInstallation(): Promise<Installation> {
  const { prefix } = await awaitPacked();
  const root = mkdtempSync(join(tmpdir(), 'vloc-e2e-'));
  const folder = join(root, 'my vidéos 字幕');
  mkdirSync(folder);
  copyFileSync(SAMPLE, join(folder, 'sample.mp4'));
  const stateDir = join(root, 'state');
  const program = join(prefix, 'bin/vloc');
  const env = { PATH: rememberingPath(), HOME: folder, VLOC_STATE_DIR: stateDir, LANG: 'C.UTF-8' };
  return {
    folder,
    stateDir,
    home: join(prefix, 'lib/node_modules/vloc'),
    program,
    env,
    run: (...args) => finish(program, args, folder, env),
    runWith: (added, ...args) => finish(program, args, folder, { ...env, ...added }),
    remove: () => rmSync(root, { recursive: true }),
  };
}

/** Runs a program to its end. */
export function finish(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<Finished> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}
