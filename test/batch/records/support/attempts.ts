/** Records of attempts, in the order of a real life and in none. */
import fc from 'fast-check';
import {
  type Attempt,
  type AttemptRecord,
  type Attempts,
  advanceAttempt,
  newAttempt,
  setAttempt,
} from '../../../../src/batch/records/attempts.ts';

export const BEGIN = Date.parse('2026-11-01T00:00:00.000Z');
const HASH = 'a'.repeat(64);

type Parts = { key: string; item?: string; at?: number; state?: 'succeeded' | 'failed' | 'cancelled' };

/** One record of each type, by its name. */
export const RECORDS = {
  intend: ({ key, item = 'one.mp4 es', at = BEGIN }: Parts) => ({
    type: 'intend',
    key,
    at: new Date(at).toISOString(),
    operation: 'createDubbing',
    kind: 'dubbing',
    item,
    path: '/v1/dubbings',
    body_sha256: HASH,
    params: { target_language: 'es' },
    input_sha256: null,
  }),
  refused: ({ key, at = BEGIN }: Parts) => ({
    type: 'refused',
    key,
    at: new Date(at).toISOString(),
    code: 'INSUFFICIENT_CREDITS',
    retryable: false,
  }),
  accepted: ({ key, at = BEGIN }: Parts) => ({
    type: 'accepted',
    key,
    at: new Date(at).toISOString(),
    job_id: `dub_${key}`,
  }),
  finished: ({ key, at = BEGIN, state = 'succeeded' }: Parts) => ({
    type: 'finished',
    key,
    at: new Date(at).toISOString(),
    job_id: `dub_${key}`,
    state,
    error: state === 'failed' ? { code: 'ENGINE_ERROR', message: 'it broke', retryable: true } : null,
  }),
  publishing: ({ key, at = BEGIN }: Parts) => ({
    type: 'publishing',
    key,
    at: new Date(at).toISOString(),
    job_id: `dub_${key}`,
    files: [{ path: 'out/one.wav', sha256: HASH, size: 10 }],
  }),
  downloaded: ({ key, at = BEGIN }: Parts) => ({
    type: 'downloaded',
    key,
    at: new Date(at).toISOString(),
    job_id: `dub_${key}`,
    files: [{ path: 'out/one.wav', sha256: HASH, size: 10 }],
  }),
} as const satisfies Record<AttemptRecord['type'], (parts: Parts) => AttemptRecord>;

const part = fc.record({
  type: fc.constantFrom('intend', 'refused', 'accepted', 'finished', 'downloaded'),
  key: fc.constantFrom('k1', 'k2', 'k3', 'k4'),
  item: fc.constantFrom('one.mp4 es', 'one.mp4 fr'),
  state: fc.constantFrom('succeeded', 'failed', 'cancelled'),
});

/** Any records in any order. */
export const anyRecords: fc.Arbitrary<AttemptRecord[]> = fc.array(
  part.map(({ type, ...parts }): AttemptRecord => RECORDS[type](parts)),
  { maxLength: 20 },
);

/** The state of all attempts after these records. */
export function foldAttempts(records: readonly AttemptRecord[]): Attempts {
  const attempts = { byKey: new Map<string, Attempt>(), byItem: new Map<string, string[]>() };
  for (const record of records)
    setAttempt(attempts, advanceAttempt(attempts.byKey.get(record.key) ?? newAttempt(record.key), record));
  return attempts;
}
