/**
 * Mentions a newer version, at most once a week. The registry is asked by a process of its own, which this one does not wait for:
 * what it learns is shown by a later command.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Io } from '../commands/context/context.ts';
import { VERSION } from '../commands/context/version.ts';
import { readPackageFile, thisInstallation } from '../commands/tool/upgrade.ts';
import { readVariable, stateFolder } from '../profiles/environment.ts';
import { isSwitchedOn } from '../profiles/resolve.ts';
import { planUpdate, readUpdateRecord, writeRecord } from './update-record.ts';

export interface UpdateParts {
  readonly version: string;
  /** The registry in the package's own configuration; null before it is published. */
  readonly registry: string | null;
  readonly advice: string;
  /** Starts the process that asks the registry and writes the answer to the file. */
  readonly ask: (registry: string, file: string) => void;
}

/** Whether this run may mention anything: a person reads both streams, and it is not switched off. */
export function isWelcome(argv: readonly string[], { env, stdout, stderr }: Io): boolean {
  if (stdout.isTTY !== true || stderr.isTTY !== true) return false;
  if (isSwitchedOn(env.CI) || readVariable(env, 'VLOC_NO_UPDATE_NOTICE') !== undefined) return false;
  return !argv.some((word) => word === '--quiet' || word === '-q' || word === 'upgrade');
}

/** Mentions a newer version if it is time, and asks for one if it is time. Never fails. */
export function noticeUpdate(io: Io, parts: UpdateParts = ownParts()): void {
  const { registry, version } = parts;
  const folder = stateFolder(io.env, io.platform);
  // The first command that keeps something there makes it.
  if (registry === null || !existsSync(folder)) return;
  const file = join(folder, 'update.json');
  try {
    const plan = planUpdate(readUpdateRecord(readIfAny(file)), version, io.now());
    if (!plan.ask && plan.mention === null) return;
    // Before the request: one that fails is repeated in a week, too.
    writeRecord(file, plan.next);
    if (plan.ask) parts.ask(registry, file);
    if (plan.mention !== null) {
      io.stderr.write(`vloc ${plan.mention} is available; this is ${version}. To upgrade: ${parts.advice}\n`);
    }
  } catch {
    // A folder that cannot be written is reported by the commands that need it.
  }
}

function readIfAny(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function ownParts(): UpdateParts {
  const { publishConfig } = JSON.parse(readPackageFile('package.json') ?? '{}') as {
    readonly publishConfig?: { readonly registry?: string };
  }; // our own file
  return {
    version: VERSION,
    registry: publishConfig?.registry ?? null,
    advice: thisInstallation().advice,
    ask: startQuestion,
  };
}

/** The process outlives this one; it gets no variables and no streams. */
function startQuestion(registry: string, file: string): void {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const path = fileURLToPath(new URL(`./version-worker.${ending}`, import.meta.url));
  const { PATH, HOME, SystemRoot, NODE_EXTRA_CA_CERTS } = process.env;
  const env = { PATH, HOME, SystemRoot, NODE_EXTRA_CA_CERTS };
  const child = spawn(process.execPath, [path, registry, file], {
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
    env,
  });
  child.on('error', () => undefined);
  child.unref();
}
