/** Health of a process: its database, its storage and its queue, each separately, and its engines and lease. */

import { constants } from 'node:fs';
import { access, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freeBytes } from '../../base/folder.ts';
import type { Capabilities } from '../../engines/engine.ts';
import type { ServiceContext } from '../context.ts';
import { FILE_MODE, type Folders } from '../folders.ts';
import { OPEN_STATUSES } from '../job-statuses.ts';
import { isLive, readNodes } from '../nodes.ts';
import type { NodeHealth } from '../options.ts';
import { LEASE_MS } from '../running/leases.ts';

/** Each part is `ok`, or says why not. Anyone may read it, so it names no machine and no folder. */
interface Parts {
  readonly database: string;
  readonly storage: string;
  readonly queue: string;
}

/** `degraded`: requests are answered, but a part fails; `failing`: no request can be answered. */
export interface Readiness extends Parts {
  readonly status: 'ok' | 'degraded' | 'failing';
}

export const OK = 'ok';
/** The state of the storage while the disk of this process has no room, whether a job or a look at the disk has found that. */
export const DISK_FULL = 'the disk is full; no job is taken until there is room';
/** Anyone may ask, so the disk is written at most once in this time. */
const FRESH_MS = 1000;
/** A part that gives no answer in this time fails. */
const ANSWER_MS = 5000;
/**
 * How long an answer waits for a part, which otherwise keeps its last state until `ANSWER_MS`: half of the second that probes of
 * Kubernetes wait. A storage that hangs must not take away nodes that answer, nor must a database that is slow for a moment.
 */
const PATIENCE_MS = 500;

/** Writes a row with the same value, to test writing to disk without a change. */
const TOUCH = `UPDATE secrets SET value = value WHERE name = 'links'`;

/** Creates the check of all parts of a service, which run concurrently. It never throws. */
export function createReadiness(context: ServiceContext): () => Promise<Readiness> {
  const checkDatabase = watchPart(context, 'the store cannot be written', async () => {
    await context.store.run(TOUCH);
    if (!context.isShared) await tryRoom(context.folders);
    return OK;
  });
  const checkStorage = watchPart(context, 'the files cannot be written', () => tryStorage(context));
  const checkQueue = watchPart(context, 'it cannot be read', () => tryQueue(context));
  return async () => {
    const [database, storage, queue] = await Promise.all([checkDatabase(), checkStorage(), checkQueue()]);
    // Without storage and workers, jobs and uploads are still accepted and wait.
    const status = database !== OK ? 'failing' : storage === OK && queue === OK ? 'ok' : 'degraded';
    return { status, database, storage, queue };
  };
}

/** @param check returns `ok` or why not; what it throws is logged, and `failure` is the answer */
function watchPart(
  { clock, log }: ServiceContext,
  failure: string,
  check: () => Promise<string>,
): () => Promise<string> {
  let last = failure;
  let begunAt = Number.NEGATIVE_INFINITY;
  /** There is one at a time, so that a part that hangs is not asked more and more. */
  let running: Promise<string> | null = null;
  const run = async () => {
    const fail = (error: unknown) => {
      last = failure;
      log({ level: 'error', message: failure, error });
    };
    const cancel = clock.schedule(ANSWER_MS, () => fail(new Error('no answer')));
    try {
      last = await check();
    } catch (error) {
      fail(error);
    } finally {
      cancel();
      running = null;
    }
    return last;
  };
  return async () => {
    if (running === null) {
      const now = clock.now();
      if (now - begunAt < FRESH_MS) return last;
      begunAt = now;
      running = run();
    }
    const { promise, resolve } = Promise.withResolvers<string>();
    const cancel = clock.schedule(PATIENCE_MS, () => resolve(last));
    const answer = await Promise.race([running, promise]);
    cancel();
    return answer;
  };
}

/** More than a request adds to the files of the store: nonce, record, job and key, each in pages of 4 KiB. */
const REQUEST_BYTES = 128 * 1024;

/** Writes what a request may need: changing a row does not show that the disk is full. @throws the error of the file system */
async function tryRoom({ root }: Folders): Promise<void> {
  const path = join(root, 'room.test');
  try {
    await writeFile(path, Buffer.alloc(REQUEST_BYTES), { mode: FILE_MODE });
  } finally {
    await rm(path, { force: true });
  }
}

/** Also a node with storage elsewhere needs its folder, for the files of running jobs. */
async function tryStorage({ folders, storage, activity, scratch }: ServiceContext): Promise<string> {
  const used = storage.sharesFolder ? [folders.uploads, folders.assets] : [folders.work];
  for (const folder of used) await access(folder, constants.W_OK);
  if (!activity.jobs().hasRoom || (await scratch.isFull())) return DISK_FULL;
  await storage.check();
  return OK;
}

/**
 * Jobs and uploads that no process works on: those that wait, and those whose process has died. The uploads are counted in the two
 * indexes of the queue.
 */
const WAITING = `
  SELECT (SELECT count(*) FROM jobs WHERE status IN ${OPEN_STATUSES}
      AND (lease_owner IS NULL OR lease_until <= ?1)) AS jobs,
    (SELECT count(*) FROM uploads WHERE status = 'validating' AND lease_owner IS NULL)
      + (SELECT count(*) FROM uploads
          WHERE status = 'validating' AND lease_owner IS NOT NULL AND lease_until <= ?1) AS uploads`;

/** Without a database, this process carries out the jobs itself, or others on the same folder do, which are not known. */
async function tryQueue({ store, clock, isShared }: ServiceContext): Promise<string> {
  if (!isShared) return OK;
  const now = clock.now();
  const waiting = await store.get<{ jobs: number; uploads: number }>(WAITING, now);
  if (waiting === undefined || waiting.jobs + waiting.uploads === 0) return OK;
  const hasWorker = (await readNodes(store)).some((node) => node.capabilities !== null && isLive(node, now));
  return hasWorker ? OK : `no worker runs; ${waiting.jobs} jobs and ${waiting.uploads} uploads wait`;
}

/** Creates the check of one process, for `vloc serve health`. It never throws. */
export function createNodeHealth(context: ServiceContext): () => Promise<NodeHealth> {
  const { activity, role, folders } = context;
  const check = createReadiness(context);
  return async () => {
    const { status: ofParts, ...parts } = await check();
    const lease = describeLease(context);
    const capabilities = activity.capabilities();
    const engines = capabilities && describeEngines(capabilities);
    const isDegraded = ofParts === 'degraded' || (engines ?? OK) !== OK;
    const works = isDegraded ? 'degraded' : OK;
    const ofWork = ofParts === 'failing' || (lease ?? OK) !== OK ? 'failing' : works;
    return {
      status: activity.state === 'running' ? ofWork : activity.state,
      node: activity.node,
      role,
      runningJobs: activity.jobs().running,
      ...parts,
      lease,
      engines,
      diskFreeBytes: await freeBytes(folders.root),
    };
  };
}

/** The other nodes take the jobs of one that is not announced for as long as a lease. */
function describeLease({ isShared, activity, clock }: ServiceContext): string | null {
  if (!isShared) return null;
  const { announcedAt } = activity;
  if (announcedAt === null) return 'not announced yet';
  const ageMs = clock.now() - announcedAt;
  return ageMs < LEASE_MS ? OK : `not renewed for ${Math.round(ageMs / 1000)} s`;
}

function describeEngines({ missing }: Capabilities): string {
  if (missing.length === 0) return OK;
  return `missing: ${missing.map(({ step, engine }) => `${engine} (${step})`).join(', ')}`;
}
