/** Needs of jobs: engines and languages, and which nodes can do them. */

import type { Capabilities } from '../../engines/engine.ts';
import { explainUnsupported } from '../../engines/support.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';
import type { JobRequest } from '../../protocol/request-types.ts';
import type { ServiceContext } from '../context.ts';
import { Refusal } from '../http/refusal.ts';
import { OPEN_STATUSES } from '../job-statuses.ts';
import { isLive, type NodeRow, readNodes } from '../nodes.ts';
import { failWaitingJob } from './finish.ts';

/** Returns what decides which engines a job needs, as one text; language tags have no spaces. */
export function needsOf(kind: JobKind, request: JobRequest): string {
  const fields: Readonly<Record<string, unknown>> = { ...request };
  return [kind, fields.source_language, fields.target_language, fields.mode].join(' ').trimEnd();
}

/** Why the engines of a node cannot do a job. `missing`: an engine is missing, else a language. */
interface Obstacle {
  readonly missing: boolean;
  readonly message: string;
  readonly advice: string;
}

/** Returns why these engines cannot do what a job needs; null if they can. */
export function findObstacle(needs: string, capabilities: Capabilities): Obstacle | null {
  const [name, source_language, target_language, mode] = needs.split(' ');
  const kind = JOB_KIND_NAMES.find((each) => each === name);
  // A newer node may have accepted it.
  if (kind === undefined)
    return { missing: true, message: `${name} is not known here`, advice: 'upgrade vloc' };
  return explainUnsupported(kind, { source_language, target_language, mode }, capabilities);
}

/**
 * Refuses a job that cannot be done: retrying would not help, and the detail says what to do. A node that shares its account
 * with others accepts what one of them can do, and everything while none of them is known.
 */
export async function refuseUnsupported(context: ServiceContext, needs: string): Promise<void> {
  const obstacles: Obstacle[] = [];
  for await (const capabilities of candidates(context)) {
    const obstacle = findObstacle(needs, capabilities);
    if (obstacle === null) return;
    obstacles.push(obstacle);
  }
  // An unknown language says more than an engine that one of several nodes lacks.
  const [reason] = obstacles.sort((one, other) => Number(one.missing) - Number(other.missing));
  if (reason !== undefined)
    throw new Refusal('LANGUAGE_NOT_SUPPORTED', `${reason.message}; ${reason.advice}`);
}

/** Capabilities of the engines that may get a job: those of this node first, then those of the others. */
async function* candidates(context: ServiceContext): AsyncGenerator<Capabilities> {
  if (context.role !== 'api') yield await (await context.engines()).capabilities();
  if (!context.isShared) return;
  const seenAfter = context.clock.now() - UNABLE_MS;
  for (const { capabilities, seenAt } of await readNodes(context.store)) {
    if (capabilities !== null && seenAt > seenAfter) yield capabilities;
  }
}

/** How long a job waits while workers run, but none that can do it: enough for one that is restarted or replaced. */
const UNABLE_MS = 5 * 60_000;
/** How long jobs wait while no worker runs at all: an outage that is noticed and ended should not fail them. */
const ALONE_MS = 60 * 60_000;

/** Jobs on which nobody works: also those of workers that died. `?1` is now, `?2` the time since which they wait. */
const WAITING = `status IN ${OPEN_STATUSES} AND (lease_owner IS NULL OR lease_until <= ?1)
  AND needs IS NOT NULL AND created_at <= ?2`;

/**
 * Fails jobs that no worker can do, which costs nothing.
 * @param watchedMs for how long this node has seen the others without a gap: before that, it cannot know who was there
 */
export async function failHopelessJobs(context: ServiceContext, watchedMs: number): Promise<void> {
  if (watchedMs < UNABLE_MS) return;
  const { store, clock, log } = context;
  const now = clock.now();
  const waiting = await store.all<{ needs: string }>(
    `SELECT DISTINCT needs FROM jobs WHERE ${WAITING}`,
    now,
    now - UNABLE_MS,
  );
  if (waiting.length === 0) return;
  const nodes = (await readNodes(store)).filter(({ capabilities }) => capabilities !== null);
  for (const { needs } of waiting) {
    const verdict = judgeWaiting(needs, nodes, now);
    if (verdict === null || watchedMs < verdict.afterMs) continue;
    const jobs = await store.all<{ id: string }>(
      `SELECT id FROM jobs WHERE ${WAITING} AND needs = ?3`,
      now,
      now - verdict.afterMs,
      needs,
    );
    for (const { id } of jobs) {
      if (!(await failWaitingJob(context, id, verdict.failure))) continue;
      log({ level: 'error', message: 'no worker can do a job', resourceId: id, error: verdict.failure });
    }
  }
}

/** Returns how a job fails after waiting for that long; null if there is hope. */
function judgeWaiting(
  needs: string,
  nodes: readonly NodeRow[],
  now: number,
): { readonly failure: JobFailure; readonly afterMs: number } | null {
  const recent = nodes.filter(({ seenAt }) => seenAt > now - UNABLE_MS);
  const obstacles = recent.map(({ capabilities }) => capabilities && findObstacle(needs, capabilities));
  if (obstacles.includes(null)) return null;
  const reason = obstacles.find((obstacle) => obstacle?.missing === false) ?? obstacles[0];
  if (reason != null && nodes.some((node) => isLive(node, now))) {
    const code = reason.missing ? 'ENGINE_ERROR' : 'LANGUAGE_NOT_SUPPORTED';
    const message = `no worker of the last ${UNABLE_MS / 60_000} minutes can do this job: ${reason.message}`;
    return { failure: new JobFailure(code, message), afterMs: UNABLE_MS };
  }
  if (nodes.some(({ seenAt }) => seenAt > now - ALONE_MS)) return null;
  const message = `no worker has run for ${ALONE_MS / 60_000} minutes; create the job again when one runs`;
  return { failure: new JobFailure('ENGINE_ERROR', message), afterMs: ALONE_MS };
}
