/** Finds jobs that the service has and the journal lacks, by the reference that they carry, before anything is paid. */
import { hash } from 'node:crypto';
import { sep } from 'node:path';
import { diskFailure, Failure, isApiAnswer } from '../../base/failure.ts';
import { unlessDiskFails } from '../../base/system-error.ts';
import type { Job, JobKind, JobSummary } from '../../client/index.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { isSplit } from '../input.ts';
import { isMadeHere } from '../inputs/items.ts';
import type { BatchItem } from '../item.ts';
import type { Decision } from '../plan/decision.ts';
import { createAttempt } from '../records/attempts.ts';
import { createItemFacts } from '../records/item-facts.ts';
import { newestAttempt } from '../records/item-key.ts';
import type { JobEntry } from '../records/job-record.ts';
import { attachedIds, findDoubt, findLostJobs, type LostJob } from '../records/lost-jobs.ts';
import { readOtherJobs } from '../records/other-journals.ts';
import { type BatchPlace, RECORD_FOLDER, recordsPath } from '../records/record-folder.ts';
import { type Batch, isEndless } from './batch.ts';
import { type BatchName, itemReference, readReference } from './client-reference.ts';
import type { BatchJournal } from './journal.ts';
import { hashInput } from './known-uploads.ts';

interface RebuildParts {
  readonly batch: Pick<
    Batch,
    'connection' | 'options' | 'delivery' | 'records' | 'runtime' | 'signal' | 'itemCount'
  >;
  readonly journal: BatchJournal;
  readonly name: BatchName;
}

export interface Rebuild {
  /**
   * Adds jobs of these items that the journal lacks. The service is asked only if the journal is new or damaged, or with
   * --rebuild.
   * @param items for which a job would be paid otherwise
   * @returns how many jobs were found
   * @throws Failure: `disk` (JOURNAL_DAMAGED) if the journal is damaged and the service cannot be asked
   */
  takeUp(items: readonly BatchItem[]): Promise<number>;
}

/** Whether a decision leads to a request that may be charged, as far as the journal knows. */
export function mayPay(item: BatchItem, decision: Decision): boolean {
  switch (decision.step) {
    case 'new':
      return !isMadeHere(item);
    case 'continue':
      return decision.next.step === 'submit' || isSplit(item.input);
    case 'expired':
      return decision.jobId === null;
    default:
      return false;
  }
}

/** First compares the journal with the job record of this machine. @throws Failure (`disk`) */
export async function createRebuild(parts: RebuildParts): Promise<Rebuild> {
  const { batch, journal } = parts;
  const { rebuild: isForced, fresh } = batch.options;
  const { isNew } = journal;
  if (!fresh) await noteUnknownJobs(parts);
  const lists = new Map<JobKind, Promise<readonly LostJob[]>>();
  const claimed = new Set<string>();

  /** Jobs of a kind without an item. */
  async function findJobs(kind: JobKind): Promise<readonly LostJob[]> {
    if (findDoubt(journal, kind) !== null) await compare(parts, kind);
    const lost = findLostJobs(journal, kind);
    if (!isForced && !isNew) return lost;
    const listed = lists.get(kind) ?? readListed(parts, kind);
    lists.set(kind, listed);
    listed.catch(() => lists.delete(kind));
    const known = new Set([...lost.map(({ id }) => id), ...attachedIds(journal.attempts)]);
    return [...lost, ...(await listed).filter(({ id }) => !known.has(id))];
  }

  return {
    async takeUp(items) {
      if (fresh) return 0;
      let count = 0;
      for (const [kind, own] of Map.groupBy(items, (item) => item.kind)) {
        const jobs = await findJobs(kind);
        // Jobs of parts are looked for when the item has been cut.
        for (const item of jobs.length === 0 ? [] : own.filter(({ input }) => !isSplit(input))) {
          const found = await findJobOf(item, jobs, claimed, batch.signal);
          if (found === null) continue;
          await attach(parts, item, found);
          count += 1;
        }
      }
      return count;
    },
  };
}

/** Records as damage that the journal lacks jobs which other records have. */
async function noteUnknownJobs({ batch, journal }: RebuildParts): Promise<void> {
  const attached = attachedIds(journal.attempts);
  const compared = new Set(journal.lostJobs.map(({ id }) => id));
  const made = (await readMade(batch)).map(({ id }) => id);
  const unknown = made.filter((id) => !attached.has(id) && !compared.has(id));
  if (unknown.length === 0 || findDoubt(journal, null) !== null) return;
  const place = `these jobs were made for the folder and match no item: ${unknown.join(' ')}`;
  await journal.add({ type: 'log_damaged', places: [place], kept: null });
}

/** Jobs that this machine created for the folder and that may have a result. */
async function readMade({ records, delivery }: RebuildParts['batch']): Promise<readonly JobEntry[]> {
  const ownFolder = `${delivery.folder}${sep}${RECORD_FOLDER}${sep}`;
  const isOwn = (folder: string | null) => folder === delivery.folder || folder?.startsWith(ownFolder);
  // The record is additional evidence only; the run itself reports records that cannot be read.
  const made = await unlessDiskFails(() => records.jobs.listAll(), []);
  const own = made.filter(
    ({ output_folder, state }) => isOwn(output_folder) && state !== 'failed' && state !== 'cancelled',
  );
  return withoutOthers(delivery, own);
}

/** Jobs without those of other shards. A job is in the journal of its shard before it is in any list read here. */
async function withoutOthers<T extends { readonly id: string }>(
  place: BatchPlace,
  jobs: readonly T[],
): Promise<readonly T[]> {
  if (jobs.length === 0) return jobs;
  const others = await readOtherJobs(place);
  return jobs.filter(({ id }) => !others.has(id));
}

/**
 * Records which jobs the service has and the journal lacks. Their age does not matter: the clock of this machine may be wrong,
 * and the service deletes old jobs.
 */
async function compare(parts: RebuildParts, kind: JobKind): Promise<void> {
  const { batch, journal } = parts;
  try {
    const attached = attachedIds(journal.attempts);
    const made = (await readMade(batch)).filter((entry) => entry.kind === kind && !attached.has(entry.id));
    const own = new Set(made.map(({ id }) => id));
    const isOurs = (job: JobSummary) => {
      const reference = readReference(job.client_reference);
      // A reference chosen by the user may belong to any item.
      const isOfUser = reference === null && job.client_reference !== null;
      return own.has(job.id) || isOfUser || belongs(parts, job);
    };
    const jobs = (await readJobs(parts, kind, true)).filter(isOurs).map(toLostJob);
    const listed = new Set(jobs.map(({ id }) => id));
    const gone: string[] = [];
    for (const { id, client_reference } of made.filter((entry) => !listed.has(entry.id))) {
      const job = await readJob(parts, kind, id);
      if (job === null) gone.push(id);
      else jobs.push({ ...toLostJob(job), client_reference: job.client_reference ?? client_reference });
    }
    await journal.add({ type: 'jobs_compared', kind, jobs, gone });
  } catch (error) {
    const isWaitedOut = isEndless(batch) && error instanceof Failure && error.facts.category === 'temporary';
    if (!(error instanceof Failure) || error.facts.category === 'disk' || isWaitedOut) throw error;
    throw notComparableFailure(batch.delivery, error);
  }
}

function notComparableFailure(place: BatchPlace, cause: Failure): Failure {
  return diskFailure(
    'JOURNAL_DAMAGED',
    `the record ${recordsPath(place)} is damaged, and the service could not be asked which jobs it lost: ${cause.message}`,
    'Nothing was sent. Run the same command again with a key that may list jobs: it continues jobs that the service ' +
      'still has (--rebuild: also those of other folders). --fresh makes new jobs, which are charged again.',
    { retryable: cause.facts.retryable ?? false },
    { cause },
  );
}

async function readJob({ batch }: RebuildParts, kind: JobKind, id: string): Promise<Job | null> {
  try {
    return await batch.connection.client.jobs.get(kind, id, { signal: batch.signal });
  } catch (error) {
    if (isApiAnswer(error, 404)) return null;
    throw error;
  }
}

/** Whether a job was created for this folder, or for any folder if the name of this one is uncertain. */
function belongs({ batch, name }: RebuildParts, job: JobSummary): boolean {
  const reference = readReference(job.client_reference);
  if (reference === null) return false;
  return batch.options.rebuild || !name.isCertain || reference.batch === name.batch;
}

/** Jobs that run or have a result, for --rebuild and for a new journal, which may replace a lost one. */
async function readListed(parts: RebuildParts, kind: JobKind): Promise<readonly LostJob[]> {
  const { rebuild: isForced } = parts.batch.options;
  try {
    const jobs = await readJobs(parts, kind, isForced);
    return jobs.filter((job) => job.status !== 'failed' && belongs(parts, job)).map(toLostJob);
  } catch (error) {
    // A key may have permission to create jobs but not to list them.
    if (isForced || !isApiAnswer(error, 403)) throw error;
    return [];
  }
}

/** All jobs of a kind except cancelled ones, newest first. @param all continues even if no job of the first page is ours */
async function readJobs(parts: RebuildParts, kind: JobKind, all: boolean): Promise<readonly JobSummary[]> {
  const { client } = parts.batch.connection;
  const found: JobSummary[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: LIMITS.pageSize.max, cursor };
    const page = await client.jobs.list(kind, query, { signal: parts.batch.signal });
    found.push(...page.data);
    // None of the newest jobs is ours, so the folder is new and its journal was not lost.
    if (!all && cursor === undefined && !page.data.some((job) => belongs(parts, job))) return [];
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  const live = found.filter(({ status }) => status !== 'cancelled');
  return withoutOthers(parts.batch.delivery, live);
}

function toLostJob({ id, status, created_at, client_reference }: JobSummary): LostJob {
  return { id, status, created_at, client_reference };
}

/** SHA-256 of the input of an item, lower-case hex; null for an input without content on this machine. */
async function readContent({ input }: BatchItem, signal: AbortSignal): Promise<string | null> {
  // A file that was made and uploaded is deleted.
  if (input.type === 'file') return input.made?.sha256 ?? hashInput(input.path, signal);
  return input.type === 'lines' ? input.sha256 : null;
}

interface FoundJob {
  readonly job: LostJob;
  readonly content: string | null;
}

/** The newest job of an item that no other item has claimed. Files with the same bytes have the same reference. */
async function findJobOf(
  item: BatchItem,
  jobs: readonly LostJob[],
  claimed: Set<string>,
  signal: AbortSignal,
): Promise<FoundJob | null> {
  const { client_reference: own } = item.fields;
  if (typeof own === 'string') {
    const alike = jobs.filter((job) => job.client_reference === own);
    if (alike.length > 0) throw unclearJobsFailure(item, own, alike);
    return null;
  }
  const content = await readContent(item, signal);
  const reference = itemReference(item, content);
  const job = jobs.find(
    ({ id, client_reference }) => !claimed.has(id) && readReference(client_reference)?.item === reference,
  );
  if (job === undefined) return null;
  claimed.add(job.id);
  return { job, content };
}

/** A reference chosen by the user does not identify the item. */
function unclearJobsFailure(item: BatchItem, reference: string, jobs: readonly LostJob[]): Failure {
  const ids = jobs.map(({ id }) => id).join(' ');
  return diskFailure(
    'JOURNAL_DAMAGED',
    `records of this folder are lost, and ${item.label} may have a job already: ${ids} (reference ${reference})`,
    'Nothing was sent. Fetch the results of these jobs with `vloc jobs download`, or make new jobs, which are charged ' +
      'again, with --fresh.',
  );
}

/** Prefix of the key of a request whose own key is lost; the id of its job follows. */
const REBUILT = 'rebuilt:';

/** Records the job of an item, with the key of its request if that is known. */
async function attach(
  { batch, journal }: RebuildParts,
  item: BatchItem,
  { job, content }: FoundJob,
): Promise<void> {
  const { attempts } = journal;
  const madeMs = Date.parse(job.created_at);
  const at = new Date(Number.isNaN(madeMs) ? batch.runtime.now() : madeMs).toISOString();
  const newest = newestAttempt(item.key, attempts);
  const accepted = { type: 'changed', state: 'accepted', accepted_at: at, job_id: job.id } as const;
  if (newest?.state === 'asked' && newest.request.client_reference === job.client_reference) {
    await journal.add({ ...accepted, key: newest.key });
    return;
  }
  const key = `${REBUILT}${job.id}`;
  const { kind } = item;
  const attempt = createAttempt({
    key,
    asked_at: at,
    kind,
    item: item.key,
    // The bytes are lost, but they are not needed because the job exists.
    body_sha256: hash('sha256', job.id),
    request: { ...item.fields, client_reference: job.client_reference },
    input_sha256: content,
    is_free: batch.connection.isFree,
  });
  await journal.add(createItemFacts(item, content), attempt, { ...accepted, key });
}
