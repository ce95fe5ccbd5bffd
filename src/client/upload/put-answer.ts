/** What storage answers to the PUT. It is not the API: its errors are XML, text, or nothing. */
import { Failure } from '../failure.ts';
import { adviseOnAnswer } from '../transport/retry.ts';
import { retryAfterOf } from '../transport/retry-after.ts';
import type { Outcome } from '../transport/retry-loop.ts';
import { describeStorageError } from '../transport/storage-error.ts';
import { uploadLapsed } from './upload-lapsed.ts';

export interface StorageAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly page: Buffer;
}

/** Answers of a pre-signed address that is over, used up, or not accepted any more. */
const LAPSED_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 409, 410]);

/** Null for success; else the failure, with code UPLOAD_LAPSED when a new reservation helps. */
export function readStorageAnswer(
  answer: StorageAnswer,
  now: number,
): Extract<Outcome<never>, { type: 'failed' }> | null {
  const { status, headers, page } = answer;
  if (status >= 200 && status < 300) return null;
  const words = describeStorageError(page);
  const said = words === '' ? `status ${status}` : `status ${status}: ${words}`;
  if (LAPSED_STATUSES.has(status) || (status === 400 && /expire/i.test(words))) {
    return { type: 'failed', failure: uploadLapsed(said).with({ status }), advice: { type: 'never' } };
  }
  const askedMs = retryAfterOf(headers, now);
  const advice = adviseOnAnswer({ status, code: null, retryable: null, askedMs });
  const passing = advice.type !== 'never';
  const failure = new Failure({
    category: passing ? 'temporary' : 'refused',
    code: status === 413 ? 'CONTENT_TOO_LARGE' : 'STORAGE_REFUSED',
    message: `storage did not take the file (${said})`,
    advice: passing ? 'Run the same command again later.' : 'Report it to whoever runs the service.',
    status,
    retryable: passing,
    ...(askedMs === null ? {} : { retryAfterMs: askedMs }),
  });
  return { type: 'failed', failure, advice };
}
