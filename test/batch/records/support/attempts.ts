/** Records of attempts, in the order of a real life and in others. */
import fc from 'fast-check';
import {
  type Attempt,
  type AttemptRecord,
  type Attempts,
  advanceAttempt,
  setAttempt,
} from '../../../../src/batch/records/attempts.ts';

export const BEGIN = Date.parse('2026-11-01T00:00:00.000Z');
const HASH = 'a'.repeat(64);

type Parts = { key: string; item?: string; at?: number; state?: 'succeeded' | 'failed' | 'cancelled' };

/** One record of each step in the life of an attempt, by its name. */
export const RECORDS = {
  asked: ({ key, item = 'one.mp4 es', at = BEGIN }: Parts) => ({
    type: 'asked',
    key,
    asked_at: new Date(at).toISOString(),
    kind: 'dubbing',
    item,
    body_sha256: HASH,
    request: { target_language: 'es' },
    input_sha256: null,
    is_free: false,
  }),
  refused: ({ key }: Parts) => ({
    type: 'changed',
    key,
    state: 'refused',
    error: 'INSUFFICIENT_CREDITS',
    retryable: false,
  }),
  accepted: ({ key, at = BEGIN }: Parts) => ({
    type: 'changed',
    key,
    state: 'accepted',
    accepted_at: new Date(at).toISOString(),
    job_id: `dub_${key}`,
  }),
  finished: ({ key, at = BEGIN, state = 'succeeded' }: Parts) => ({
    type: 'changed',
    key,
    state,
    finished_at: new Date(at).toISOString(),
    job_id: `dub_${key}`,
    ...(state === 'failed' ? { error: 'ENGINE_ERROR', message: 'it broke', retryable: true } : {}),
  }),
  downloaded: ({ key, at = BEGIN }: Parts) => ({
    type: 'downloaded',
    key,
    at: new Date(at).toISOString(),
    job_id: `dub_${key}`,
    files: [{ path: 'out/one.wav', sha256: HASH, size: 10 }],
  }),
} as const satisfies Record<string, (parts: Parts) => AttemptRecord>;

const part = fc.record({
  type: fc.constantFrom('asked', 'refused', 'accepted', 'finished', 'downloaded'),
  key: fc.constantFrom('k1', 'k2', 'k3', 'k4'),
  item: fc.constantFrom('one.mp4 es', 'one.mp4 fr'),
  state: fc.constantFrom('succeeded', 'failed', 'cancelled'),
});

/** Any records in any order, but for the first of each attempt. */
export const anyRecords: fc.Arbitrary<AttemptRecord[]> = fc
  .array(part, { maxLength: 20 })
  .map((parts) =>
    parts.flatMap(({ type, ...own }, place): AttemptRecord[] => [
      ...(parts.findIndex(({ key }) => key === own.key) === place ? [RECORDS.asked(own)] : []),
      RECORDS[type](own),
    ]),
  );

/** The state of all attempts after these records. */
export function foldAttempts(records: readonly AttemptRecord[]): Attempts {
  const attempts = { byKey: new Map<string, Attempt>(), byItem: new Map<string, string[]>() };
  for (const record of records) setAttempt(attempts, advanceAttempt(attempts.byKey.get(record.key), record));
  return attempts;
}
