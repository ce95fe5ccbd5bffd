/**
 * Idempotency keys: a request creates only one resource, even if it is sent several times. Source: contract,
 * "Idempotency".
 */
import { canonicalJson } from '../base/json.ts';
import { LIMITS } from '../protocol/limits.ts';
import { sha256Hex } from '../protocol/signature.ts';
import type { OperationCall, ServiceContext } from './context.ts';
import { Refusal } from './http/refusal.ts';
import type { Statements, Transaction } from './store/store.ts';

/** The result of the first request with an idempotency key. */
export interface IdempotentResult {
  readonly status: number;
  readonly resourceId: string;
  readonly replayed: boolean;
}

interface Row {
  readonly method: string;
  readonly path: string;
  readonly body_sha256: string;
  readonly status: number;
  readonly resource_id: string;
}

/**
 * Returns the result of an earlier request with this key, or null. A key is forgotten with the record that its request
 * created, not only when the sweep removes it: the request would be answered with a resource that cannot be read.
 * @throws Refusal IDEMPOTENCY_KEY_REUSED if the earlier request was different
 */
export async function findReplay(store: Statements, call: OperationCall): Promise<IdempotentResult | null> {
  const row = await store.get<Row>(
    `SELECT method, path, body_sha256, status, resource_id FROM idempotency
     WHERE key_id = ? AND idempotency_key = ? AND created_at > ?`,
    call.key.id,
    call.idempotencyKey,
    call.now - LIMITS.retentionMs,
  );
  if (row === undefined) return null;
  const same =
    row.method === call.operation.method && row.path === call.path && row.body_sha256 === fingerprint(call);
  if (!same) {
    throw new Refusal(
      'IDEMPOTENCY_KEY_REUSED',
      'the Idempotency-Key was used for a request with another method, path or body',
    );
  }
  return { status: row.status, resourceId: row.resource_id, replayed: true };
}

/**
 * Runs `make` unless an earlier request with this key did. Its work and the record of it are in one transaction. If it
 * throws, nothing is stored and the key can be used again.
 * @param make does the work and returns the status of the answer and the id of the resource; it must change only the
 * store, because it is called again if a transaction shared with other requests fails. `now` is the time of the
 * transaction: a new row with it is the newest one in lists, and is kept exactly as long as the key.
 */
export function carryOutOnce(
  context: Pick<ServiceContext, 'clock' | 'commitTogether'>,
  call: OperationCall,
  make: (tx: Transaction, now: number) => Promise<{ status: number; resourceId: string }>,
): Promise<IdempotentResult> {
  return context.commitTogether(async (tx) => {
    const earlier = await findReplay(tx, call);
    if (earlier !== null) return earlier;
    const now = context.clock.now();
    const { status, resourceId } = await make(tx, now);
    await tx.run(
      `INSERT INTO idempotency
         (key_id, idempotency_key, method, path, body_sha256, status, resource_id, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (key_id, idempotency_key) DO UPDATE SET method = excluded.method, path = excluded.path,
         body_sha256 = excluded.body_sha256, status = excluded.status, resource_id = excluded.resource_id,
         created_at = excluded.created_at`,
      call.key.id,
      call.idempotencyKey,
      call.operation.method,
      call.path,
      fingerprint(call),
      status,
      resourceId,
      now,
    );
    return { status, resourceId, replayed: false };
  });
}

/** The header that shows whether the request was already executed before. */
export function replayHeader(outcome: IdempotentResult): Record<string, string> {
  return { 'Idempotency-Replayed': String(outcome.replayed) };
}

/** Cached, because a body may be large and is compared both before and within the transaction. */
const fingerprints = new WeakMap<OperationCall, string>();

function fingerprint(call: OperationCall): string {
  let digest = fingerprints.get(call);
  if (digest === undefined) {
    digest = sha256Hex(call.body === undefined ? '' : canonicalJson(call.body));
    fingerprints.set(call, digest);
  }
  return digest;
}
