/** Runs the programs that a release needs. */
import { execFileSync } from 'node:child_process';

interface Where {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program to its end and returns what it printed. @throws Error with its name and last words when it fails */
export function run(program: string, args: readonly string[], { cwd, env = {} }: Where): string {
  // npm is a script of the shell on Windows; its arguments here have no blanks.
  const shell = process.platform === 'win32' && program === 'npm';
  return execFileSync(program, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
    maxBuffer: 1 << 28, // a bill of materials has megabytes
    shell,
  });
}

/** The options of every call of npm: only what the lock file names, no scripts of others, no messages. */
export const QUIET_NPM = ['--no-audit', '--no-fund', '--ignore-scripts', '--silent', '--prefer-offline'];
