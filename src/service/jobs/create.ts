import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { JobRequest } from '../../protocol/requests.ts';
import { type Call, kindOf } from '../call.ts';
import type { Context } from '../context.ts';
import { toThousandths } from '../credits/amount.ts';
import { reserveCredits } from '../credits/billing.ts';
import type { Answer } from '../http/answer.ts';
import { Refusal, refuseField, refuseFields } from '../http/refusal.ts';
import { carryOutOnce, findReplay } from '../idempotency.ts';
import { checkUrl } from '../outgoing/url-policy.ts';
import { describeRequest, type Input, resolveInput } from './input.ts';
import { quantityOf } from './metering.ts';
import { answerJob } from './read.ts';

/** A slot comes free when a job ends, which takes from seconds to minutes. */
const RETRY_AFTER_SECONDS = '10';

/** The POST of every job kind: record, reservation and idempotency key come into being together. */
export async function createJob(context: Context, call: Call): Promise<Answer> {
  const kind = kindOf(call);
  refuseTooManyLines(call.body);
  const [{ checkJobRequest }] = await loadChecks();
  const checked = checkJobRequest(kind, call.body);
  if (!checked.ok) throw refuseFields(checked.errors);
  const request = checked.value;
  refuseClosedCallback(context, request);
  if (findReplay(context, call) === null) {
    resolveInput(context, call, request);
    await refuseUnsupported(context, kind, request);
  }
  const outcome = await carryOutOnce(context, call, () => ({
    status: 202,
    // Measured again, since the upload may have lapsed while the engines were asked.
    resourceId: insertJob(context, call, kind, request, resolveInput(context, call, request)),
  }));
  if (!outcome.replayed) context.signals.emit('jobQueued');
  return answerJob(context, call, outcome, { Location: `${call.path}/${outcome.resourceId}` });
}

type Checks = [typeof import('../../protocol/requests.ts'), typeof import('../../engines/support.ts')];
let checks: Promise<Checks> | null = null;

/**
 * Validators take longer to load than the rest of the service, and most commands never post. Kept, since looking up a
 * module that is loaded takes a twentieth of a request.
 */
function loadChecks(): Promise<Checks> {
  checks ??= Promise.all([import('../../protocol/requests.ts'), import('../../engines/support.ts')]);
  return checks;
}

/** Subtitles that are too long are refused alike, whether they come as a file or as lines. */
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

/** Told now, where somebody reads it, instead of in the log after the job. */
function refuseClosedCallback({ config }: Context, { callback_url: callback }: JobRequest): void {
  if (callback === undefined) return;
  const target = checkUrl(callback, config);
  if (!target.ok) throw refuseField('/callback_url', target.reason);
}

/** Also when an engine is not installed at all: another attempt would not mend it, and the detail says what would. */
async function refuseUnsupported(context: Context, kind: JobKind, request: JobRequest): Promise<void> {
  const [, { explainUnsupported }] = await loadChecks();
  const engines = await context.engines();
  const fields: Readonly<Record<string, unknown>> = { ...request };
  const obstacle = explainUnsupported(kind, fields, await engines.capabilities());
  if (obstacle === null) return;
  throw new Refusal('LANGUAGE_NOT_SUPPORTED', `${obstacle.message}; ${obstacle.advice}`);
}

function insertJob(context: Context, call: Call, kind: JobKind, request: JobRequest, input: Input): string {
  const { store, config } = context;
  const { unit } = KINDS[kind];
  // The moment of the transaction, so that lists grow at their newest end alone.
  const now = context.clock.now();
  const id = context.makeId(kind);
  reserveCredits(
    store,
    {
      jobId: id,
      key: call.key,
      unit,
      quantity: quantityOf(unit, input.size),
      price: toThousandths(config.prices[kind]),
    },
    now,
  );
  refuseWithoutSlot(context);
  store.run(
    `INSERT INTO jobs (id, key_id, kind, status, client_reference, callback_url, created_at, updated_at,
       upload_id, input, request)
     VALUES (?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?)`,
    id,
    call.key.id,
    kind,
    request.client_reference ?? null,
    request.callback_url ?? null,
    now,
    now,
    input.uploadId,
    JSON.stringify(describeRequest(request)),
    JSON.stringify(request),
  );
  return id;
}

function refuseWithoutSlot(context: Context): void {
  const open = context.store.get<{ count: number }>(
    `SELECT count(*) AS count FROM jobs WHERE status IN ('queued', 'processing')`,
  );
  const limit = context.config.concurrentTasks;
  if ((open?.count ?? 0) < limit) return;
  throw new Refusal('CONCURRENCY_LIMIT_EXCEEDED', `the workspace has ${limit} unfinished jobs, its limit`, {
    headers: { 'Retry-After': RETRY_AFTER_SECONDS },
  });
}
