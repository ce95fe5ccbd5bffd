import { JobFailure } from '../../protocol/job-failure.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Media } from '../../protocol/media.ts';
import { countCharacters, type InputSize, quantityOf, toThousandths } from '../../protocol/metering.ts';
import type { JobRequest, Source, SubtitleInput } from '../../protocol/request-types.ts';
import { checkJobRequest } from '../../protocol/requests.ts';
import type { UploadPurpose } from '../../protocol/states.ts';
import { kindOf, type OperationCall, type ServiceContext } from '../context.ts';
import { billFor, readFunds, reserveCredits } from '../credits/billing.ts';
import type { ServiceResponse } from '../http/exchange.ts';
import { Refusal, refuseField, refuseFields } from '../http/refusal.ts';
import { carryOutOnce, findReplay } from '../idempotency.ts';
import { OPEN_STATUSES } from '../job-statuses.ts';
import { checkUrl } from '../outgoing/url-policy.ts';
import type { Statements, Transaction } from '../store/store.ts';
import { findOwnUpload, type SubtitleFacts, type UploadRow } from '../uploads/rows.ts';
import { LARGEST_VIDEO, readSubtitleSource, sourceAddress } from './fetch-source.ts';
import { needsOf, refuseUnsupported } from './needs.ts';
import { answerJob } from './read.ts';
import { checkJobExport } from './tasks.ts';

/** A slot becomes free when a job ends, after seconds or minutes. */
const RETRY_AFTER_SECONDS = '10';

/** The POST of every job kind: creates the record, the reservation and the idempotency key in one transaction. */
export async function createJob(context: ServiceContext, call: OperationCall): Promise<ServiceResponse> {
  const kind = kindOf(call);
  refuseTooManyLines(call.body);
  const checked = checkJobRequest(kind, call.body);
  if (!checked.ok) throw refuseFields(checked.errors);
  const asked = checked.value;
  refuseClosedCallback(context, asked);
  const needs = needsOf(kind, asked);
  let prepared: Prepared = { request: asked, awaited: LARGEST_VIDEO };
  if ((await findReplay(context.store, call)) === null) {
    const input = await resolveInput(context, context.store, call, prepared);
    await refuseUnsupported(context, needs);
    await refuseUnexportable(context, asked, input);
    prepared = await withSubtitle(context, prepared);
  }
  const { request } = prepared;
  const outcome = await carryOutOnce(context, call, async (tx, now) => {
    const [input, funds, open] = await Promise.all([
      // Resolved again, because the upload may have expired while the engines were loading.
      resolveInput(context, tx, call, prepared),
      readFunds(tx, call.key, now),
      countOpen(tx),
    ]);
    const id = context.makeId(kind);
    const { unit } = KINDS[kind];
    const quantity = quantityOf(unit, input.size);
    const price = toThousandths(context.config.prices[kind]);
    const bill = billFor(funds, { jobId: id, unit, quantity, price });
    refuseWithoutSlot(context, open);
    const job = { id, kind, asked, request, needs, input, now };
    await Promise.all([reserveCredits(tx, bill), insertJob(tx, call, job)]);
    return { status: 202, resourceId: id };
  });
  if (!outcome.replayed) context.signals.emit('jobQueued');
  return answerJob(context, call, outcome, { Location: `${call.path}/${outcome.resourceId}` });
}

/** A request, and the size that is reserved if it contains an address that only its job fetches. */
interface Prepared {
  readonly request: JobRequest;
  readonly awaited: InputSize;
}

/** Returns the request with the subtitles at its address as lines: what is reserved, translated and charged is then the same. */
async function withSubtitle(context: ServiceContext, prepared: Prepared): Promise<Prepared> {
  const { request } = prepared;
  if (!('subtitle' in request) || request.subtitle.type !== 'url') return prepared;
  try {
    const found = await readSubtitleSource(context, request.subtitle.url);
    if (found.lines === null) return { request, awaited: found.size };
    return { ...prepared, request: { ...request, subtitle: { type: 'lines', lines: found.lines } } };
  } catch (error) {
    if (!(error instanceof JobFailure)) throw error;
    const isOfAddress = error.code === 'SOURCE_BLOCKED' || error.code === 'SOURCE_UNREACHABLE';
    throw isOfAddress ? unusable(error.message) : new Refusal('SUBTITLE_VALIDATION_FAILED', error.message);
  }
}

/** Refuses too many lines with the same code as a subtitle file that is too long. */
function refuseTooManyLines(body: unknown): void {
  if (typeof body !== 'object' || body === null || !('subtitle' in body)) return;
  const { subtitle } = body;
  if (typeof subtitle !== 'object' || subtitle === null || !('lines' in subtitle)) return;
  if (Array.isArray(subtitle.lines) && subtitle.lines.length > LIMITS.subtitleLines) {
    throw new Refusal(
      'SUBTITLE_VALIDATION_FAILED',
      `${subtitle.lines.length} lines; at most ${LIMITS.subtitleLines} are allowed`,
    );
  }
}

/** Refuses the callback URL in the answer, where the caller sees it, instead of in the log after the job. */
function refuseClosedCallback({ config }: ServiceContext, { callback_url: callback }: JobRequest): void {
  if (callback === undefined) return;
  const target = checkUrl(callback, config);
  if (!target.ok) throw refuseField('/callback_url', target.reason);
}

/**
 * Checks picture and fonts before anything is charged. Without an upload on this machine the job checks the picture itself,
 * and for a node without engines all of it.
 */
async function refuseUnexportable(
  context: ServiceContext,
  request: JobRequest,
  { file }: Input,
): Promise<void> {
  if (!('resolution' in request) || context.role === 'api') return;
  const video = file === null ? null : context.storage.pathOf(file);
  try {
    await checkJobExport(await context.engines(), request, video);
  } catch (error) {
    if (!(error instanceof JobFailure) || error.retryable) throw error;
    const isFont = error.code === 'LANGUAGE_NOT_SUPPORTED';
    throw new Refusal(isFont ? 'LANGUAGE_NOT_SUPPORTED' : 'MEDIA_VALIDATION_FAILED', error.message);
  }
}

interface NewJob {
  readonly id: string;
  readonly kind: JobKind;
  /** As sent, for the answer. */
  readonly asked: JobRequest;
  readonly request: JobRequest;
  readonly needs: string;
  readonly input: Input;
  readonly now: number;
}

function insertJob(
  tx: Transaction,
  call: OperationCall,
  { id, kind, asked, request, needs, input, now }: NewJob,
): Promise<number> {
  return tx.run(
    `INSERT INTO jobs (id, key_id, kind, status, client_reference, callback_url, created_at, updated_at,
       upload_id, input, request, needs)
     VALUES (?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    call.key.id,
    kind,
    request.client_reference ?? null,
    request.callback_url ?? null,
    now,
    now,
    input.uploadId,
    JSON.stringify(describeRequest(asked)),
    JSON.stringify(request),
    needs,
  );
}

async function countOpen(tx: Transaction): Promise<number> {
  const row = await tx.get<{ count: number }>(
    `SELECT count(*) AS count FROM jobs WHERE status IN ${OPEN_STATUSES}`,
  );
  return row?.count ?? 0;
}

function refuseWithoutSlot({ config }: ServiceContext, open: number): void {
  const limit = config.concurrentTasks;
  if (open < limit) return;
  throw new Refusal('CONCURRENCY_LIMIT_EXCEEDED', `the workspace has ${limit} unfinished jobs, its limit`, {
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  });
}

interface Input {
  readonly size: InputSize;
  /** The upload that contains the bytes, or null. */
  readonly uploadId: string | null;
  /** Its name in the storage. */
  readonly file: string | null;
}

/**
 * Measures the input of a request. A URL that is fetched only when the job runs counts as the awaited size.
 * @throws Refusal INPUT_NOT_USABLE for a URL that is not public https, and for an upload that is not ready or has the
 * wrong purpose
 */
async function resolveInput(
  context: ServiceContext,
  store: Statements,
  call: OperationCall,
  { request, awaited }: Prepared,
): Promise<Input> {
  const address = sourceAddress(request);
  if (address !== null) {
    refuseClosedAddress(context, address.url);
    return { size: awaited, uploadId: null, file: null };
  }
  if ('source' in request) {
    const row = await requireUpload(store, call, request.source, 'source_video');
    const media: Media = JSON.parse(row.media ?? '');
    return { ...inputOf(row), size: { seconds: media.duration_seconds, lines: 0, characters: 0 } };
  }
  if (request.subtitle.type === 'lines') {
    const { lines } = request.subtitle;
    const size = { seconds: 0, lines: lines.length, characters: countCharacters(lines) };
    return { size, uploadId: null, file: null };
  }
  const row = await requireUpload(store, call, request.subtitle, 'subtitle_file');
  const facts: SubtitleFacts = JSON.parse(row.subtitle ?? '');
  return { ...inputOf(row), size: { seconds: 0, lines: facts.lines, characters: facts.characters } };
}

function inputOf({ id, file }: UploadRow): Omit<Input, 'size'> {
  return { uploadId: id, file };
}

function refuseClosedAddress({ config }: ServiceContext, url: string): void {
  const target = checkUrl(url, config);
  if (target.ok) return;
  throw unusable(
    `the address ${target.reason}; or upload the file with POST /uploads and name its upload_id`,
  );
}

async function requireUpload(
  store: Statements,
  call: OperationCall,
  source: Source,
  purpose: UploadPurpose,
): Promise<UploadRow> {
  if (source.type === 'url') throw new Error('an address has no upload');
  const row = await findOwnUpload(store, call.key.id, source.upload_id, call.now);
  if (row === undefined) throw unusable(`there is no upload ${source.upload_id.slice(0, 64)}`);
  if (row.purpose !== purpose) throw unusable(`the upload is a ${row.purpose}, but a ${purpose} is needed`);
  if (row.status !== 'ready') throw unusable(`the upload is ${row.status}, not ready`);
  return row;
}

function unusable(detail: string): Refusal {
  return new Refusal('INPUT_NOT_USABLE', detail);
}

/**
 * Returns the request as a job shows it: without the texts of structured lines, which may be long, and without the
 * query of a URL and the callback URL, which may contain a permission.
 */
function describeRequest(request: JobRequest): Record<string, unknown> {
  const { client_reference: _reference, callback_url: _callback, ...asked } = request;
  if ('source' in asked) return { ...asked, source: describeSource(asked.source) };
  return { ...asked, subtitle: describeSource(asked.subtitle) };
}

function describeSource(source: SubtitleInput): Record<string, unknown> {
  switch (source.type) {
    case 'upload':
      return { type: 'upload', upload_id: source.upload_id };
    case 'url': {
      const { origin, pathname } = new URL(source.url);
      return { type: 'url', url: origin + pathname };
    }
    case 'lines':
      return { type: 'lines', line_count: source.lines.length };
  }
}
