/** How a download ends when it cannot succeed; `name` is that of the file. */
import { describeDuration, formatBytes } from '../../base/amounts.ts';
import {
  diskFailure,
  expiredFailure,
  Failure,
  type FailureFacts,
  refusedFailure,
  temporaryFailure,
} from '../../base/failure.ts';
import type { StorageRefusal } from '../transport/storage-refusal.ts';

const AGAIN_OR_REPORT = 'Run the same command again; if it fails again, report the id of the job.';

export function addressRefusedFailure(): Failure {
  return refusedFailure(
    'DOWNLOAD_ADDRESS_REFUSED',
    'the download address that the service returned is not https',
    'Nothing was downloaded: report it to the operator of the service.',
  );
}

export function damagedDownloadFailure(name: string): Failure {
  return temporaryFailure(
    'DOWNLOAD_DAMAGED',
    `the downloaded ${name} has the wrong size or checksum`,
    AGAIN_OR_REPORT,
    { retryable: true },
  );
}

export function rangeMismatchFailure(name: string, why: 'changed' | 'range'): Failure {
  return temporaryFailure(
    'DOWNLOAD_RANGE_MISFIT',
    why === 'changed'
      ? `${name} changed at the service during the download`
      : `storage did not return the part of ${name} that was requested`,
    'Run the same command again.',
    { retryable: true },
  );
}

/** @param what came instead  @param said the words of the page, empty without any */
export function notResultFailure(what: string, said = ''): Failure {
  return temporaryFailure(
    'DOWNLOAD_NOT_THE_RESULT',
    said === '' ? what : `${what}: ${said}`,
    'Often this is the login page of a network or a proxy: sign in there or avoid it, then run the same command again.',
    { origin: 'gateway', blame: 'gateway', retryable: true },
  );
}

/** @param needed bytes that are still missing  @param free bytes that the disk has for them */
export function noRoomFailure(name: string, folder: string, needed: number | null, free: number): Failure {
  const takes = needed === null ? `more than ${formatBytes(free)}` : formatBytes(needed);
  return diskFailure(
    'DISK_FULL',
    `${name} needs ${takes} more, and ${folder} has ${formatBytes(free)} free`,
    'Free some space or choose another folder with --out, then run the same command again.',
    { retryable: false },
  );
}

export function slowDownloadFailure(host: string, bytes: number, ms: number, least: number): Failure {
  const time = describeDuration(ms);
  return temporaryFailure(
    'DOWNLOAD_TOO_SLOW',
    `${host} sent ${formatBytes(bytes)} in ${time}; with less than ${formatBytes(least)} in that time a download is stopped`,
    'Check the network, then run the same command again.',
    { retryable: true },
  );
}

/**
 * The failure of an address that is refused, once the job has no other.
 * @param expiresAt until when the service keeps the result, null when it does not say
 */
export function linkRefusedFailure(
  name: string,
  { facts, gateway, said, atMs }: StorageRefusal,
  expiresAt: string | null,
): Failure {
  const expiryMs = Date.parse(expiresAt ?? '');
  if (expiryMs <= atMs || (Number.isNaN(expiryMs) && facts.status === 410))
    return resultExpiredFailure(name, said);
  const until = Number.isNaN(expiryMs)
    ? ''
    : `; it can be downloaded until ${new Date(expiryMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const deadline = until === '' ? 'soon' : 'before then';
  const own: FailureFacts = {
    ...facts,
    code: 'LINK_REFUSED',
    message: `storage refused the download address of ${name} (${said})`,
    advice: `Run the same command again ${deadline}: the job is paid and is not submitted again. If it is refused again, send the job id to the operator of the service.`,
    retryable: true,
  };
  const refused = gateway ?? own;
  return new Failure({ ...refused, message: refused.message + until });
}

/** The failure of a result that storage no longer has. */
export function resultExpiredFailure(name: string, said: string): Failure {
  return expiredFailure(
    'RESULT_EXPIRED',
    `the download address of ${name} has expired and cannot be renewed (${said})`,
    'The service has deleted the result: start a new job.',
    { origin: 'storage', blame: 'link', retryable: false },
  );
}
