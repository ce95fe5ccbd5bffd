import { Failure, type FailureFacts } from '../../errors/failure.ts';

/** The failure of a reservation that takes no bytes any more; the upload is made again. */
export function uploadLapsed(reason: string, facts: Partial<FailureFacts> = {}): Failure {
  return new Failure({
    ...facts,
    category: 'expired',
    code: 'UPLOAD_LAPSED',
    message: `the upload reservation is no longer accepted: ${reason}`,
    advice: 'Run the same command again.',
    retryable: true,
  });
}
