import { describe, expect, it } from 'vitest';
import { JOB_ERROR_CODES, JobFailure } from '../../src/protocol/job-failure.ts';

describe('the reasons of a failed job', () => {
  it('invite a second attempt only if the input is not to blame', () => {
    const retryable = Object.entries(JOB_ERROR_CODES).filter(([, row]) => row.retryable);
    expect(retryable.map(([code]) => code)).toEqual([
      'SOURCE_UNREACHABLE',
      'ENGINE_ERROR',
      'DEADLINE_EXCEEDED',
      'STORAGE_ERROR',
    ]);
  });
});

describe('a failure of a job', () => {
  it('carries its code, its message and what caused it', () => {
    const cause = new Error('exit code 1');
    const failure = new JobFailure('ENGINE_ERROR', 'the recognizer stopped', { cause });
    expect(failure).toBeInstanceOf(Error);
    expect(failure).toMatchObject({
      name: 'JobFailure',
      code: 'ENGINE_ERROR',
      message: 'the recognizer stopped',
      retryable: true,
      cause,
    });
    expect(new JobFailure('MEDIA_CORRUPT', 'it ends early').retryable).toBe(false);
  });
});
