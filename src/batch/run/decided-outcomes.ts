import { expiredFailure, jobFailure, usageFailure } from '../../base/failure.ts';
/** Outcomes that the plan decides without the service. */

import { resolve } from 'node:path';
import type { Failure } from '../../client/index.ts';
import type { BatchItem, ItemState } from '../item.ts';
import type { Decision } from '../plan/decision.ts';
import { NOT_USABLE } from '../plan/input.ts';
import { nameParts } from '../record-folder.ts';
import type { DownloadedRecord } from '../records/intents.ts';

type Final = Extract<Decision, { step: 'changed' | 'edited' | 'failed' | 'unusable' }>;

/** The failure of an item that the plan has decided not to run. @param folder of the results, absolute */
export function decisionFailure(decision: Final, folder: string): Failure {
  switch (decision.step) {
    case 'changed': {
      if (decision.what === 'tracks') {
        const message = `the result lacks the requested original tracks, or has others: ${decision.changes.join(', ')}`;
        const advice = 'Use --clobber to fetch the result of the same job again; it is not charged again.';
        return usageFailure('ITEM_CHANGED', message, advice);
      }
      const what = decision.what === 'file' ? 'the file is different' : 'the options are different';
      const message = `a job was made for this before, and ${what} now: ${decision.changes.join(', ')}`;
      const advice = 'Use --clobber for a new job that replaces its result, or another folder with --out.';
      return usageFailure('ITEM_CHANGED', message, advice);
    }
    case 'edited': {
      const message = `the result ${resolve(folder, decision.path)} was changed since it was fetched`;
      const advice = 'vloc left it unchanged; --clobber downloads the result again and replaces it.';
      return usageFailure('RESULT_CHANGED', message, advice);
    }
    case 'failed':
      return jobFailure(
        decision.code,
        `${decision.message} (in an earlier run)`,
        'It is not retried automatically; run the same command with --retry-failed to try again.',
        { jobId: decision.jobId, retryable: false },
      );
    case 'unusable':
      return usageFailure(NOT_USABLE, decision.detail, undefined, { retryable: false });
  }
}

/** The code of a failure: the result was downloaded, and neither this disk nor the service has it. */
export const RESULT_GONE = 'RESULT_GONE';

/** @param jobId null if it is unknown whether there was a job */
export function resultExpiredFailure(jobId: string | null): Failure {
  const message =
    jobId === null
      ? 'the service no longer has a job for this request, and the request is too old to be sent again'
      : `the service no longer has the job ${jobId}, and its result was not downloaded`;
  return expiredFailure(
    'RESULT_EXPIRED',
    message,
    'Run the same command with --fresh for a new job, which is charged again.',
    { ...(jobId === null ? {} : { jobId }) },
  );
}

/** The failure of a result that was downloaded, and is gone here and at the service. */
export function resultGoneFailure(
  { at, files, job_id: jobId }: Pick<DownloadedRecord, 'at' | 'files' | 'job_id'>,
  folder: string,
): Failure {
  const places = files.map(({ path }) => resolve(folder, path)).join(', ');
  return expiredFailure(
    RESULT_GONE,
    `the result was downloaded on ${at.slice(0, 10)} and is no longer at ${places}; the service no longer has it (job ${jobId})`,
    'Use --skip-done to count it as done. For a new job, which is charged again, use --fresh, with --include to choose the inputs.',
    { jobId },
  );
}

/** The state of an item that was done before this run. */
export function doneBefore(
  { kind }: Pick<BatchItem, 'kind'>,
  { before, jobId, files }: Extract<Decision, { step: 'done' }>,
): Extract<ItemState, { phase: 'done' }> {
  const stored = nameParts(kind, files).map(({ asset, path, size, sha256 }) => ({
    asset: asset ?? '',
    path,
    bytes: size,
    sha256,
  }));
  return { phase: 'done', jobId, before, credits: null, files: stored };
}
