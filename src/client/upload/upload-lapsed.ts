import { Failure } from '../failure.ts';

/** The failure of a reservation that takes no bytes any more; the upload is made anew. */
export function uploadLapsed(reason: string): Failure {
  return new Failure({
    category: 'expired',
    code: 'UPLOAD_LAPSED',
    message: `the reservation of the upload has lapsed: ${reason}`,
    advice: 'Run the same command again.',
    retryable: true,
  });
}
