import { assetsOf, Failure, type Job } from '../../client/index.ts';

/**
 * When the first address of a job's results lapses, RFC 3339 in UTC; null before there is one, and where the service
 * does not tell.
 */
export function whenLinksLapse(job: Job): string | null {
  const told = [job.expires_at, ...assetTimes(job)].flatMap((time) => {
    const ms = Date.parse(time ?? '');
    return Number.isNaN(ms) ? [] : [ms];
  });
  return told.length === 0 ? null : new Date(Math.min(...told)).toISOString();
}

/** A result without an address is refused where it is fetched, not where its end is written down. */
function assetTimes(job: Job): readonly (string | null)[] {
  try {
    return assetsOf(job).map(({ asset }) => asset.expires_at);
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}
