/** What storage answers to the PUT. */
import { Failure } from '../../errors/failure.ts';
import type { Outcome } from '../transport/retry-loop.ts';
import { isGatewayPage, readStorageRefusal, type StorageAnswer } from '../transport/storage-refusal.ts';
import { uploadLapsed } from './upload-lapsed.ts';

/** Null for success; else the failure, with code UPLOAD_LAPSED or UPLOAD_BLOCKED when a new reservation may help. */
export function readStorageAnswer(
  answer: StorageAnswer,
  now: number,
): Extract<Outcome<never>, { type: 'failed' }> | null {
  const { status, headers, page } = answer;
  const isSuccess = status >= 200 && status < 300;
  // Storage says little about success; a whole page is that of a login.
  if (isSuccess && !isGatewayPage(headers, page)) return null;
  const { verdict, advice, said, facts, gateway } = readStorageRefusal(answer, now);
  if (gateway !== null) {
    const code = verdict.renew ? 'UPLOAD_BLOCKED' : gateway.code;
    return { type: 'failed', failure: new Failure({ ...gateway, code }), advice };
  }
  if (verdict.renew) return { type: 'failed', failure: uploadLapsed(said, facts), advice };
  const failure = new Failure({
    ...facts,
    code: status === 413 ? 'CONTENT_TOO_LARGE' : 'STORAGE_REFUSED',
    message: `storage did not take the file (${said})`,
    advice: facts.retryable
      ? 'Run the same command again later.'
      : 'Report it to the operator of the service.',
  });
  return { type: 'failed', failure, advice };
}
