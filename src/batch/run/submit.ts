/**
 * The paid call: its intent is on the disk before the request leaves, its answer before anything else is done. Source:
 * design, "The record (journal)"; reliability, "Rules of the client".
 */

import { Failure, type Job, type JobKind, type JobRequestInput } from '../../client/index.ts';
import { createIntent, type IntendRecord } from '../../journal/intents.ts';
import type { NewJob } from '../../journal/job-record.ts';
import { OPERATIONS, VERSION_PREFIX } from '../../protocol/operations.ts';
import type { BatchItem } from '../item.ts';
import type { Delivery } from '../plan/delivery.ts';
import { createItemFacts } from '../plan/facts.ts';
import { fileOf } from '../plan/items.ts';
import { languageOfItem } from '../plan/result-paths.ts';
import { itemReference, readReference, writeReference } from './client-reference.ts';
import { resultExpired } from './decided-outcomes.ts';
import { attachedIds } from './lost-jobs.ts';
import { buildRequest, digestRequest, type Request, rebuildRequest, withoutLines } from './request.ts';
import { type Run, timestamp } from './run.ts';
import type { Provided } from './uploads.ts';

/** A call whose intent is on the disk: to be sent as often as it takes, always the same. */
export interface Intended {
  readonly key: string;
  readonly request: Request;
}

/** Writes down what is about to be asked. @throws Failure (`disk`), and then nothing may be sent */
export async function intend(run: Run, item: BatchItem, provided: Provided): Promise<Intended> {
  const { kind } = item;
  const reference = { batch: run.batchReference, item: itemReference(item, provided.sha256) };
  const request = buildRequest(item, provided.source, writeReference(reference));
  const key = run.batch.runtime.idempotencyKey();
  const { operationId, path } = creationOf(kind);
  const record = createIntent({
    key,
    at: timestamp(run),
    operation: operationId,
    kind,
    item: item.key,
    path: VERSION_PREFIX + path,
    body_sha256: digestRequest(request),
    params: withoutLines(request),
    input_sha256: provided.sha256,
  });
  await run.journal.add(createItemFacts(item, provided.sha256), record);
  return { key, request };
}

function creationOf(kind: JobKind) {
  const operation = OPERATIONS.find((each) => each.action === 'createJob' && each.kind === kind);
  if (operation === undefined) throw new TypeError(`there is no operation that creates ${kind}`);
  return operation;
}

/** The call of an earlier run again; null when what it was made of has changed, so that the same cannot be sent. */
export function resume(item: BatchItem, asked: IntendRecord, provided: Provided | null): Intended | null {
  const request = rebuildRequest(item, asked, provided?.source ?? null);
  return request === null ? null : { key: asked.key, request };
}

/**
 * Sends the call and writes down what came of it.
 * @throws Failure; after one that is neither noted as refused nor without a slot nobody knows whether there is a job
 */
export async function submit(run: Run, item: BatchItem, { key, request }: Intended): Promise<Job> {
  const { client } = run.batch.connection;
  try {
    // The plan has checked the fields against the rules of the kind; what --set adds is the service's to judge.
    const body = request as JobRequestInput<JobKind> & Record<string, unknown>;
    const options = { idempotencyKey: key, signal: run.batch.signal, waitForSlot: false };
    const job = await client.jobs.create(item.kind, body, options);
    await noteAccepted(run, item, key, job);
    return job;
  } catch (error) {
    if (error instanceof Failure && isRefusal(error)) {
      const { code, message, requestId, retryable = false } = error.facts;
      const answer = requestId === undefined ? {} : { request_id: requestId };
      await run.journal.add({
        type: 'refused',
        key,
        at: timestamp(run),
        code,
        message,
        retryable,
        ...answer,
      });
    }
    throw error;
  }
}

/** Writes down that the service has made the job of an intent. */
async function noteAccepted(run: Run, item: BatchItem, key: string, job: Job): Promise<void> {
  const accepted = { type: 'accepted', key, at: timestamp(run), job_id: job.id };
  await run.journal.add(accepted, ...run.takeBill(item, key, job));
  await noteJob(run, item, job);
}

/** Puts a job into the record of the profile. */
async function noteJob(run: Run, item: BatchItem, job: Job): Promise<void> {
  const { input, kind } = item;
  const { command, delivery, records } = run.batch;
  const file = fileOf(input);
  await run.note(() =>
    records.jobs.add({
      id: job.id,
      kind,
      created_at: job.created_at === '' ? timestamp(run) : job.created_at,
      client_reference: job.client_reference,
      command,
      inputs: [input.type === 'url' ? input.url : input.label],
      output_folder: delivery.folder,
      input_files: file === null ? [] : [file.path],
      ...(delivery.isInner === true ? {} : { naming: namingRecord(item, delivery) }),
    }),
  );
}

/** What `jobs wait` and `jobs download` name the results by. */
function namingRecord(item: BatchItem, { template, rewrite }: Delivery): NewJob['naming'] {
  const { folder, input } = item;
  const format = rewrite?.extension.slice(1) ?? null;
  return { folder, template, stem: input.stem, language: languageOfItem(item), format };
}

/**
 * True when the service has said for certain that it made nothing, to this very request. What comes before it looks at
 * the key (401, 403) says nothing about an earlier attempt whose answer was lost, so the intent stays open.
 */
function isRefusal({ facts }: Failure): boolean {
  const { status = 0 } = facts;
  const isAnswer = status >= 400 && status < 500;
  return isAnswer && (facts.category === 'refused' || facts.category === 'credits');
}

/** True when all slots are taken; the call may be sent again, unchanged. */
export function isWithoutSlot({ facts }: Failure): boolean {
  return facts.code === 'CONCURRENCY_LIMIT_EXCEEDED';
}

/**
 * The job of a call that cannot be sent again with the same bytes, or null when the service has none.
 * @throws Failure (`expired`) when its reference does not tell it from others
 */
export async function findIntended(run: Run, item: BatchItem, asked: IntendRecord): Promise<Job | null> {
  const { client_reference: reference } = asked.params;
  if (typeof reference !== 'string' || readReference(reference) === null) throw resultExpired(null);
  const { client } = run.batch.connection;
  const signal = run.stopping.launching;
  const page = await client.jobs.list(item.kind, { client_reference: reference }, { signal });
  const attached = attachedIds(run.journal.intents);
  const summary = page.data.find(({ id }) => !attached.has(id));
  if (summary === undefined) return null;
  const job = await client.jobs.get(item.kind, summary.id, { signal });
  await noteAccepted(run, item, asked.key, job);
  return job;
}

/** Writes down that a call has never arrived, so that another may take its place. */
export function noteNeverArrived(run: Run, { key }: IntendRecord): Promise<void> {
  const refused = { type: 'refused', key, at: timestamp(run), code: 'NEVER_ARRIVED', retryable: true };
  return run.journal.add(refused);
}
