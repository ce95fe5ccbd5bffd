/**
 * The paid request: its attempt is on the disk before it is sent, and its answer before anything else happens. Source: design,
 * "The record (journal)"; reliability, "Rules of the client".
 */

import { hash } from 'node:crypto';
import { Failure, type Job, type JobKind, type JobRequestInput } from '../../client/index.ts';
import { VOICE_MODE } from '../../protocol/fields.ts';
import type { SubtitleInput } from '../../protocol/request-types.ts';
import type { JobInput } from '../input.ts';
import { type Delivery, deliveryOf, languageOfItem, templateFor } from '../inputs/delivery.ts';
import { sourceFieldOf } from '../inputs/field-flags.ts';
import { fileOf, keptResult } from '../inputs/items.ts';
import type { BatchItem } from '../item.ts';
import { type Attempt, createAttempt } from '../records/attempts.ts';
import { createItemFacts } from '../records/item-facts.ts';
import type { NewJob } from '../records/job-record.ts';
import { attachedIds } from '../records/lost-jobs.ts';
import { itemReference, readReference, writeReference } from './client-reference.ts';
import { keepDubbedLines } from './dubbed-lines.ts';
import { resultExpiredFailure } from './outcome.ts';
import { formatTimestamp, type Run } from './run.ts';
import type { ProvidedSource } from './uploads.ts';

/** A request whose attempt is on the disk. It may be sent repeatedly, always unchanged. */
export interface IntendedRequest {
  readonly key: string;
  readonly request: JobRequestBody;
}

/** Records the attempt of a request. @throws Failure (`disk`), and then nothing may be sent */
export async function recordAttempt(
  run: Run,
  item: BatchItem,
  provided: ProvidedSource,
): Promise<IntendedRequest> {
  const { kind } = item;
  await keepDubbedLines(run, item);
  const reference = {
    batch: run.batchReference,
    item: itemReference(item, provided.sha256),
    name: { stem: item.input.stem, language: languageOfItem(item) },
  };
  const request = buildRequest(item, provided.source, writeReference(reference));
  const key = run.batch.runtime.idempotencyKey();
  const record = createAttempt({
    key,
    asked_at: formatTimestamp(run),
    kind,
    item: item.key,
    body_sha256: digestRequest(request),
    request: withoutLines(request),
    input_sha256: provided.sha256,
    is_free: run.batch.connection.isFree,
  });
  await run.journal.add(createItemFacts(item, provided.sha256), record);
  return { key, request };
}

/** The request of an earlier run; null if its input has changed, so that the same bytes cannot be sent again. */
export function resumeRequest(
  item: BatchItem,
  asked: Attempt,
  provided: ProvidedSource | null,
): IntendedRequest | null {
  const request = rebuildRequest(item, asked, provided?.source ?? null);
  return request === null ? null : { key: asked.key, request };
}

/**
 * Sends the request and records the answer.
 * @throws Failure; unless it was recorded as refused or there was no slot, it is unknown whether there is a job
 */
export async function submitRequest(
  run: Run,
  item: BatchItem,
  { key, request }: IntendedRequest,
): Promise<Job> {
  const { client } = run.batch.connection;
  try {
    // The plan has checked the fields against the rules of the kind; the service checks those that --set adds.
    const body = request as JobRequestInput<JobKind> & Record<string, unknown>;
    const options = { idempotencyKey: key, signal: run.batch.signal, waitForSlot: false };
    const job = await client.jobs.create(item.kind, body, options);
    await noteAccepted(run, item, key, job);
    return job;
  } catch (error) {
    if (error instanceof Failure && isRefusal(error)) {
      const { code, message, requestId: request_id = null, retryable = false } = error.facts;
      const why = { error: code, message, retryable, request_id };
      await run.journal.add({ type: 'changed', key, state: 'refused', ...why });
    }
    throw error;
  }
}

/** Records that the service has created the job of an attempt. */
async function noteAccepted(run: Run, item: BatchItem, key: string, job: Job): Promise<void> {
  const accepted = { state: 'accepted', accepted_at: formatTimestamp(run), job_id: job.id } as const;
  await run.journal.add({ type: 'changed', key, ...accepted }, ...run.takeBill(item, key, job));
  await noteJob(run, item, job);
}

/** Adds a job to the job record of this machine. */
async function noteJob(run: Run, item: BatchItem, job: Job): Promise<void> {
  const { input, kind } = item;
  const { command, delivery, records } = run.batch;
  const file = fileOf(input);
  await run.note(() =>
    records.jobs.add({
      id: job.id,
      kind,
      created_at: job.created_at === '' ? formatTimestamp(run) : job.created_at,
      client_reference: job.client_reference,
      command,
      inputs: [input.type === 'url' ? input.url : input.label],
      output_folder: delivery.folder,
      input_files: file === null ? [] : [file.path],
      ...(kind === 'dubbing' && item.part === undefined ? { speech: speechRecord(item) } : {}),
      ...(item.isInner === true ? {} : { naming: namingRecord(item, delivery) }),
    }),
  );
}

/** By what `subtitles check` finds earlier dubs of a language and voice. */
function speechRecord({ targetLanguage, fields }: BatchItem): NewJob['speech'] {
  const { voice_mode = VOICE_MODE.default } = fields;
  return { language: targetLanguage ?? '', voice_mode: String(voice_mode) };
}

/** Parts from which `jobs wait` and `jobs download` derive the names of results. */
function namingRecord(item: BatchItem, delivery: Delivery): NewJob['naming'] {
  const { folder, input } = item;
  const { rewrite, ...own } = deliveryOf(delivery, item);
  // As it is delivered, it is a video.
  const template = item.sound === undefined ? own.template : templateFor(delivery, item.kind);
  const format = rewrite?.format ?? null;
  const sourceSha256 = input.type === 'lines' && format !== null ? input.sha256 : undefined;
  const language = languageOfItem(item);
  return { folder, template, stem: input.stem, language, format, sourceSha256, keep: keptResult(item) };
}

/**
 * Whether the service has definitely refused this request. A refusal of the key (401, 403) says nothing about an earlier
 * attempt whose answer was lost, so it leaves the attempt open.
 */
function isRefusal({ facts }: Failure): boolean {
  const { status = 0 } = facts;
  const isAnswer = status >= 400 && status < 500;
  return isAnswer && (facts.category === 'refused' || facts.category === 'credits');
}

/** Whether all slots are taken; the request may be sent again, unchanged. */
export function isWithoutSlot({ facts }: Failure): boolean {
  return facts.code === 'CONCURRENCY_LIMIT_EXCEEDED';
}

/**
 * The job of a request that cannot be sent again with the same bytes, or null if the service has none.
 * @throws Failure (`expired`) if its reference does not identify it
 */
export async function findIntended(run: Run, item: BatchItem, asked: Attempt): Promise<Job | null> {
  const { client_reference: reference } = asked.request;
  if (typeof reference !== 'string' || readReference(reference) === null) throw resultExpiredFailure(null);
  const { client } = run.batch.connection;
  const signal = run.stopping.launching;
  const page = await client.jobs.list(item.kind, { client_reference: reference }, { signal });
  const attached = attachedIds(run.journal.attempts);
  const summary = page.data.find(({ id }) => !attached.has(id));
  if (summary === undefined) return null;
  const job = await client.jobs.get(item.kind, summary.id, { signal });
  await noteAccepted(run, item, asked.key, job);
  return job;
}

/** Records that a request never arrived, so that another may replace it. */
export function noteNeverArrived(run: Run, { key }: Attempt): Promise<void> {
  const why = { error: 'NEVER_ARRIVED', retryable: true };
  return run.journal.add({ type: 'changed', key, state: 'refused', ...why });
}

type JobRequestBody = Readonly<Record<string, unknown>>;

/** @param reference used unless the user has given one */
export function buildRequest(item: BatchItem, source: SubtitleInput, reference: string): JobRequestBody {
  return { client_reference: reference, ...item.fields, [sourceFieldOf(item.kind)]: source };
}

/** SHA-256 of the bytes that the client sends for a request, lower-case hex. */
export function digestRequest(request: JobRequestBody): string {
  return hash('sha256', JSON.stringify(request));
}

/** A request as the journal keeps it: subtitle lines stay in their file, since there may be thousands. */
export function withoutLines(request: JobRequestBody): Record<string, unknown> {
  const { subtitle } = request;
  if (!hasLines(subtitle)) return { ...request };
  const lines = { count: subtitle.lines.length, sha256: hash('sha256', JSON.stringify(subtitle.lines)) };
  return { ...request, subtitle: { ...subtitle, lines } };
}

function hasLines(value: unknown): value is { readonly lines: readonly unknown[] } {
  return typeof value === 'object' && value !== null && 'lines' in value && Array.isArray(value.lines);
}

/**
 * The request of an attempt as it was sent, or null if its input has changed since. The journal has neither the query of an
 * address nor the lines, so they come from the item.
 * @param source the lines of the job that is the input; null for other inputs
 */
export function rebuildRequest(
  item: BatchItem,
  asked: Attempt,
  source: SubtitleInput | null,
): JobRequestBody | null {
  const candidates = [asked.request, withOwnParts(item, asked.request, source)];
  return candidates.find((request) => digestRequest(request) === asked.body_sha256) ?? null;
}

function withOwnParts(item: BatchItem, params: JobRequestBody, source: SubtitleInput | null): JobRequestBody {
  const { input, kind, fields } = item;
  const own = source ?? sourceOf(input);
  return {
    ...params,
    ...(fields.callback_url === undefined ? {} : { callback_url: fields.callback_url }),
    ...(own === null ? {} : { [sourceFieldOf(kind)]: own }),
  };
}

function sourceOf(input: JobInput): SubtitleInput | null {
  if (input.type === 'url') return { type: 'url', url: input.url };
  return input.type === 'lines' ? { type: 'lines', lines: [...input.lines] } : null;
}
