/**
 * The health of a running service or worker: it writes a file into its state folder every few seconds, which needs no port, and
 * `vloc serve health` reads it.
 */

import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { EXIT_CODES } from '../../base/exit-codes.ts';
import { type Failure, temporaryFailure } from '../../base/failure.ts';
import { flagOption } from '../../base/option.ts';
import { errorCode } from '../../base/system-error.ts';
import { stateFolder } from '../../profiles/environment.ts';
import { ROLES } from '../../protocol/roles.ts';
import type { NodeHealth } from '../../service/index.ts';
import { type Command, defineCommand } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { formatDuration } from '../context/format.ts';
import { type Presentation, presentLine } from '../context/output/presentation.ts';
import { NullableNumber, NullableText } from '../context/output-schemas.ts';
import { STATE_DIR } from './serve-keys.ts';

/** How often a process reports. */
const REPORT_MS = 5000;
/** A process that has not reported for six times hangs; a busy machine may delay one or two. */
const STALE_MS = 30_000;

/** Longer than a report, and one block of any disk: reports of one length can replace each other in place. */
const REPORT_BYTES = 4096;

const START = 'health-';
const END = '.json';
/** Several processes, also of several machines, may share a folder. */
const fileOf = (folder: string, pid: number) => join(folder, `${START}${hostname()}-${pid}${END}`);

interface Report extends NodeHealth {
  readonly pid: number;
  readonly host: string;
}

/**
 * Writes the health of this process into its state folder now and every five seconds, on a full disk too. The time of the file says that
 * the process lives.
 * @returns stops the reports and removes the file
 */
export async function reportHealth(
  { io }: Context,
  folder: string,
  readHealth: () => Promise<NodeHealth>,
): Promise<() => Promise<void>> {
  const path = fileOf(folder, process.pid);
  const report = async () => {
    const health: Report = { ...(await readHealth()), pid: process.pid, host: hostname() };
    const text = JSON.stringify(health).padEnd(REPORT_BYTES);
    try {
      await writeFile(`${path}.new`, text, { mode: 0o600 });
      await rename(`${path}.new`, path);
    } catch {
      // A full disk has room for what is as long as before.
      await writeFile(path, text, { flag: 'r+' }).catch(() => undefined);
      const now = new Date(io.now());
      // A folder that is gone has no reader either.
      await utimes(path, now, now).catch(() => undefined);
    }
  };
  let running = report();
  await running;
  const timer = setInterval(() => {
    running = running.then(report);
  }, REPORT_MS);
  return async () => {
    clearInterval(timer);
    await running;
    await rm(path, { force: true });
    await rm(`${path}.new`, { force: true });
  };
}

/** From the best to the worst. */
const STATUSES = ['ok', 'degraded', 'starting', 'closing', 'failing'] as const;

const NodeHealthSchema = v.object({
  status: v.picklist(['starting', 'ok', 'degraded', 'failing', 'closing']),
  node: v.string(),
  role: v.picklist(ROLES),
  running_jobs: v.number(),
  database: v.string(),
  storage: v.string(),
  queue: v.string(),
  lease: NullableText,
  engines: NullableText,
  disk_free_bytes: NullableNumber,
  pid: v.number(),
  host: v.string(),
  checked_at: v.string(),
});

const NODE_HEALTH = { json: [NodeHealthSchema], ndjson: [NodeHealthSchema] };

export const serveHealth: Command = defineCommand({
  options: {
    stateDir: STATE_DIR,
    live: flagOption('check only that the process runs, not its database and lease'),
  },
  examples: [
    {
      command: 'vloc serve health --state-dir /var/lib/vloc-worker --output json',
      explains: 'all parts of the worker on this machine; exits with 7 if it cannot work',
    },
    {
      command: 'vloc serve health --live',
      explains: 'for what restarts a process: a database that is down is no reason to restart',
    },
  ],
  notes: [
    'Exits with 0 while the process works, also with the status degraded, and with 7 if none runs with the folder, it hangs, or its status is failing.',
    'If several processes use the folder, it shows the one with the worst status.',
  ],
  prints: NODE_HEALTH,
  run: async (context, _operands, { stateDir, live }) => {
    const { env, platform, cwd, now } = context.io;
    const folder = resolve(cwd, stateDir ?? stateFolder(env, platform));
    const reports = await readReports(folder, now());
    const [worst] = reports.sort(
      (one, other) => STATUSES.indexOf(other.status) - STATUSES.indexOf(one.status),
    );
    if (worst === undefined) throw notRunningFailure(folder);
    await context.present.show(presentHealth(worst));
    return worst.status === 'failing' && !live ? EXIT_CODES.temporary.code : 0;
  },
});

/** @throws Failure (`temporary`) for a process that hangs */
async function readReports(folder: string, now: number): Promise<(Report & { at: number })[]> {
  const found: (Report & { at: number })[] = [];
  for (const name of await namesIn(folder)) {
    const path = join(folder, name);
    try {
      // Written by `reportHealth` of this version or another one.
      const report: Report = JSON.parse(await readFile(path, 'utf8'));
      if (report.host !== hostname()) continue;
      const { mtimeMs: at } = await stat(path);
      if (!isAlive(report.pid)) await rm(path, { force: true });
      else if (now - at > STALE_MS) throw hangsFailure(report.pid, now - at);
      else found.push({ ...report, at });
    } catch (error) {
      // The process has ended in this moment.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  return found;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.startsWith(START) && name.endsWith(END));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user exists, too.
    return errorCode(error) === 'EPERM';
  }
}

function notRunningFailure(folder: string): Failure {
  return temporaryFailure(
    'SERVICE_NOT_RUNNING',
    `no service or worker runs with ${folder} on this machine`,
    'Start it, or name the folder of another one with --state-dir.',
  );
}

function hangsFailure(pid: number, ageMs: number): Failure {
  return temporaryFailure(
    'SERVICE_HANGS',
    `the process ${pid} has not reported for ${formatDuration(ageMs)}`,
    'Restart it; other workers take over its jobs.',
  );
}

function presentHealth({ at, ...report }: Report & { at: number }): Presentation {
  const { runningJobs, diskFreeBytes, pid, host, ...health } = report;
  const shown = {
    ...health,
    running_jobs: runningJobs,
    disk_free_bytes: diskFreeBytes,
    pid,
    host,
    checked_at: new Date(at).toISOString(),
  };
  const cells = () => Object.entries(shown).map(([name, value]) => [name, String(value ?? '-')]);
  return {
    ...presentLine(shown, report.status),
    ids: () => [report.node],
    pages: () => [{ head: ['PART', 'STATE'], rows: cells() }],
  };
}
