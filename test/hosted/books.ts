/** What a service has done for each key: jobs, payments and the digests of the files that it sent. */
import { createHash } from 'node:crypto';
import type { Hosted } from './service.ts';
import type { StoredJob } from './shapes.ts';

interface BookedJob {
  readonly id: string;
  /** Path of its collection. */
  readonly kind: string;
  /** SHA-256 of what it works on. */
  readonly input: string;
  readonly language: string;
  readonly intent: string;
  readonly status: string;
  /** SHA-256 of each file of its result. */
  readonly files: Readonly<Record<string, string>>;
  readonly downloads: Readonly<Record<string, number>>;
}

export interface Books {
  readonly jobs: readonly BookedJob[];
  /** Jobs for each thing that was asked for, however often it was asked for: one, or somebody paid again. */
  readonly payments: Readonly<Record<string, number>>;
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** What a job is for: its kind, its input and its options, but neither the upload nor the reference of one attempt. */
function purposeOf({ path, input, request }: StoredJob): string {
  const { source: _source, subtitle: _subtitle, client_reference: _reference, ...options } = request;
  const sorted = Object.entries(options).sort(([left], [right]) => (left < right ? -1 : 1));
  return [path, input, JSON.stringify(sorted)].join(' ');
}

export function readBooks({ jobs }: Pick<Hosted, 'jobs'>): Books {
  const payments: Record<string, number> = {};
  const booked = [...jobs.values()].map((job): BookedJob => {
    const purpose = purposeOf(job);
    payments[purpose] = (payments[purpose] ?? 0) + 1;
    const { id, path, input, language, intent, status, files, downloads } = job;
    const digests = Object.entries(files).map(([name, { bytes }]) => [name, sha256(bytes)]);
    return { id, kind: path, input, language, intent, status, files: Object.fromEntries(digests), downloads };
  });
  return { jobs: booked, payments };
}
