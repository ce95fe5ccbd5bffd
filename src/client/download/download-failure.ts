/** How a download ends when it cannot succeed; `name` is that of the file. */
import { Failure } from '../failure.ts';

export function addressRefused(): Failure {
  return new Failure({
    category: 'refused',
    code: 'DOWNLOAD_ADDRESS_REFUSED',
    message: 'the download address that the service gave is not https',
    advice: 'Nothing was fetched: report it to whoever runs the service.',
  });
}

export function damaged(name: string): Failure {
  return new Failure({
    category: 'temporary',
    code: 'DOWNLOAD_DAMAGED',
    message: `the bytes of ${name} are not those that the service promised`,
    advice: 'Run the same command again; if it stays, report the id of the job.',
    retryable: true,
  });
}

export function misfit(name: string): Failure {
  return new Failure({
    category: 'temporary',
    code: 'DOWNLOAD_RANGE_MISFIT',
    message: `what is already there of ${name} does not fit what the service has`,
    advice: 'Run the same command again.',
    retryable: true,
  });
}

export function linkExpired(name: string, status: number): Failure {
  return new Failure({
    category: 'expired',
    code: 'RESULT_EXPIRED',
    message: `the download address of ${name} has lapsed and there is no other (status ${status})`,
    advice: 'Its bytes are gone from the service: start a new job.',
    status,
    retryable: false,
  });
}
