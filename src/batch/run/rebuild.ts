/** Jobs that the service knows and the journal does not: found by the reference that they carry. */
import { hash } from 'node:crypto';
import type { Client, Job, JobKind, JobSummary } from '../../client/index.ts';
import { createIntent, type IntendRecord } from '../../journal/intent-records.ts';
import type { Intent } from '../../journal/intents.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { VERSION_PREFIX } from '../../protocol/operations.ts';
import type { BatchItem } from '../item.ts';
import { createItemFacts } from '../plan/facts.ts';
import { itemReference, readReference } from './client-reference.ts';
import type { BatchJournal } from './journal.ts';
import { hashInput } from './known-uploads.ts';
import { type Run, timestamp } from './run.ts';
import { noteAccepted } from './submit.ts';
import { resultExpired } from './unusable.ts';

export interface Rebuild {
  readonly items: readonly BatchItem[];
  readonly client: Pick<Client, 'jobs'>;
  readonly journal: BatchJournal;
  /** See `batchReference`. */
  readonly batchReference: string;
  /** --rebuild: takes jobs of other folders too, when they are for the same input and options. */
  readonly force: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/**
 * Writes a lost journal anew, as far as the lists of the service tell of it. Costs one request for each kind when there
 * is nothing to be found.
 * @returns how many jobs were taken up
 */
export async function rebuildJournal(rebuild: Rebuild): Promise<number> {
  const kinds = new Set(rebuild.items.map(({ kind }) => kind));
  let count = 0;
  for (const kind of kinds) {
    const jobs = await readJobs(rebuild, kind);
    for (const item of rebuild.items) {
      const isMissing = item.kind === kind && !rebuild.journal.intents.byItem.has(item.key);
      if (isMissing && jobs.size > 0) count += await takeUp(rebuild, item, jobs);
    }
  }
  return count;
}

/** By the reference of their item, the newest first: items of the same bytes have the same reference. */
type FoundJobs = ReadonlyMap<string, JobSummary[]>;

/** Jobs that run or have a result and that the journal does not know. */
async function readJobs(rebuild: Rebuild, kind: JobKind): Promise<FoundJobs> {
  const { client, force, batchReference, signal, journal } = rebuild;
  const known = knownJobs(journal);
  const filters = {
    limit: LIMITS.pageSize.max,
    created_after: new Date(rebuild.now - LIMITS.retentionMs).toISOString(),
  };
  const found = new Map<string, JobSummary[]>();
  let cursor: string | undefined;
  do {
    const page = await client.jobs.list(kind, { ...filters, cursor }, { signal });
    let isOursAmong = false;
    for (const job of page.data) {
      const reference = readReference(job.client_reference);
      const isOurs = reference !== null && (force || reference.batch === batchReference);
      const isOfUse = job.status !== 'failed' && job.status !== 'cancelled';
      if (!isOurs) continue;
      isOursAmong = true;
      if (!isOfUse || known.has(job.id)) continue;
      found.set(reference.item, [...(found.get(reference.item) ?? []), job]);
    }
    // Nothing of ours among the newest: the folder is new, not its journal lost.
    if (!force && cursor === undefined && !isOursAmong) return found;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

/** Before the id of the job that a call was found again by: its own key is lost. */
const REBUILT = 'rebuilt:';

/** Whether the key of an intent was made here. */
export function isRebuilt(key: string): boolean {
  return key.startsWith(REBUILT);
}

async function takeUp({ journal, signal }: Rebuild, item: BatchItem, jobs: FoundJobs): Promise<number> {
  const { input, kind } = item;
  const content =
    input.type === 'file'
      ? await hashInput(input.path, signal)
      : input.type === 'lines'
        ? input.sha256
        : null;
  // One for each: the others are those of other files with the same bytes, or older ones.
  const job = jobs.get(itemReference(item, content))?.shift();
  if (job === undefined) return 0;
  const key = `${REBUILT}${job.id}`;
  const intent = createIntent({
    key,
    at: job.created_at,
    operation: `create${KINDS[kind].noun}`,
    kind,
    item: item.key,
    path: `${VERSION_PREFIX}/${KINDS[kind].path}`,
    // Nobody knows the bytes any more, and as the job is there, nobody needs them.
    body_sha256: hash('sha256', job.id),
    params: { ...item.fields, client_reference: job.client_reference },
    input_sha256: content,
  });
  const accepted = { type: 'accepted', key, at: job.created_at, job_id: job.id };
  await journal.add(createItemFacts(item, content), intent, accepted);
  return 1;
}

/** A request has to get there, and the clocks of both sides need not agree. */
const MARGIN_MS = 2 * LIMITS.timestampSkewSeconds * 1000;

/**
 * The job of a call that cannot be sent again with the same bytes, or null when it never arrived.
 * @throws Failure (`expired`) when its reference does not tell it from others
 */
export async function findIntended(run: Run, item: BatchItem, asked: IntendRecord): Promise<Job | null> {
  const { client_reference: reference } = asked.params;
  if (typeof reference !== 'string' || readReference(reference) === null) throw resultExpired(null);
  const { client } = run.batch.connection;
  const signal = run.stopping.launching;
  const created_after = new Date(Date.parse(asked.at) - MARGIN_MS).toISOString();
  const page = await client.jobs.list(item.kind, { client_reference: reference, created_after }, { signal });
  const known = knownJobs(run.journal);
  const summary = page.data.find(({ id }) => !known.has(id));
  if (summary === undefined) {
    const refused = { type: 'refused', key: asked.key, at: timestamp(run), code: 'NEVER_ARRIVED' };
    await run.journal.add({ ...refused, retryable: true });
    return null;
  }
  const job = await client.jobs.get(item.kind, summary.id, { signal });
  await noteAccepted(run, item, asked.key, job);
  return job;
}

function knownJobs({ intents }: Pick<BatchJournal, 'intents'>): ReadonlySet<string | null> {
  return new Set([...intents.byKey.values()].map(jobIdOf));
}

function jobIdOf({ outcome }: Intent): string | null {
  return outcome.phase === 'intended' || outcome.phase === 'refused' ? null : outcome.record.job_id;
}
