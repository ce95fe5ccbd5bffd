/** Decisions not to run an item: their failures, with the same words in plans, runs and summaries. Pure. */
import { type Failure, jobFailure, usageFailure } from '../../base/failure.ts';
import { NOT_USABLE } from '../input.ts';
import type { Decision } from './decision.ts';

/** Nothing is sent for the item: its result belongs to other options or was edited, or its file cannot be used. */
export type Refused = Extract<Decision, { step: 'changed' | 'edited' | 'unusable' }>;

export function isRefused(decision: Decision): decision is Refused {
  return decision.step === 'changed' || decision.step === 'edited' || decision.step === 'unusable';
}

/** The failure of an item that is not run. */
export function decisionFailure(decision: Refused | Extract<Decision, { step: 'failed' }>): Failure {
  switch (decision.step) {
    case 'changed':
      return usageFailure('ITEM_CHANGED', ...describeChanged(decision));
    case 'edited': {
      const message = `the result ${decision.path} was changed since it was fetched`;
      const advice =
        'vloc left it unchanged; --clobber downloads the result again and replaces it, --skip-existing keeps it.';
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
      return usageFailure(decision.code ?? NOT_USABLE, decision.detail, undefined, { retryable: false });
  }
}

/** Message and advice. */
function describeChanged({ what, changes }: Extract<Decision, { step: 'changed' }>): [string, string] {
  const how = changes.join(', ');
  switch (what) {
    case 'tracks':
      return [
        `the result was written with other options: ${how}`,
        '--clobber fetches the result of the same job again, which is not charged again; --skip-existing keeps the existing one.',
      ];
    case 'options':
      return [
        `its job was made with other options: ${how}`,
        'To keep the result, run it with the earlier options or with --skip-existing; --clobber makes a new job that replaces it (its price: --clobber --dry-run), --out chooses another folder.',
      ];
    case 'file':
      return [
        `its input changed since the job was made: ${how}`,
        '--clobber makes a new job and replaces the result, --skip-existing keeps the existing one, --out chooses another folder.',
      ];
  }
}
