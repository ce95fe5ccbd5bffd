import { describe, expect, it } from 'vitest';
import {
  canJobBecome,
  canUploadBecome,
  isTerminal,
  JOB_STATUSES,
  UPLOAD_PURPOSES,
  UPLOAD_STATUSES,
} from '../../src/protocol/states.ts';

/** Every step from one state to another that is allowed. */
function steps<S>(states: readonly S[], can: (from: S, to: S) => boolean): string[] {
  return states
    .flatMap((from) => states.filter((to) => can(from, to)).map((to) => `${from} -> ${to}`))
    .sort();
}

describe('a job', () => {
  it('has the five states of the specification', () => {
    expect(JOB_STATUSES).toEqual(['queued', 'processing', 'succeeded', 'failed', 'cancelled']);
  });

  it('has the transitions of the specification and no others', () => {
    expect(steps(JOB_STATUSES, canJobBecome)).toEqual([
      'processing -> cancelled',
      'processing -> failed',
      'processing -> succeeded',
      'queued -> cancelled',
      'queued -> processing',
    ]);
  });

  it('never changes again once it succeeded, failed or was cancelled', () => {
    expect(JOB_STATUSES.filter(isTerminal)).toEqual(['succeeded', 'failed', 'cancelled']);
  });
});

describe('an upload', () => {
  it('has the five states and two purposes of the specification', () => {
    expect(UPLOAD_STATUSES).toEqual(['waiting_for_upload', 'validating', 'ready', 'failed', 'expired']);
    expect(UPLOAD_PURPOSES).toEqual(['source_video', 'subtitle_file']);
  });

  it('is received, then validated, and expires while it waits or once it is ready', () => {
    expect(steps(UPLOAD_STATUSES, canUploadBecome)).toEqual([
      'ready -> expired',
      'validating -> failed',
      'validating -> ready',
      'waiting_for_upload -> expired',
      'waiting_for_upload -> validating',
    ]);
  });
});
