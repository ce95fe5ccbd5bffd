import { describe, expect, test } from 'vitest';
import { asJobFailure, ChildFailure, ProgramMissing } from '../../../src/media/programs/failures.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';

const going = new AbortController().signal;

describe('an error of media work', () => {
  test('that is a missing program says how to install it', () => {
    const failure = asJobFailure(new ProgramMissing('espeak-ng'), going);
    expect(failure).toMatchObject({
      code: 'ENGINE_ERROR',
      message: expect.stringContaining('vloc engines install'),
    });
  });

  test('that is a failed engine names it, and none of our folders', () => {
    const lastWords = 'first line\nfile:/srv/vloc/jobs/17/mix.wav: Invalid data';
    const failure = asJobFailure(
      new ChildFailure('espeak-ng', { exitCode: 1, endedBy: null, lastWords }),
      going,
    );
    expect(failure).toMatchObject({
      code: 'ENGINE_ERROR',
      message: 'espeak-ng stopped with exit code 1 (file:mix.wav: Invalid data)',
    });
  });

  test.each([
    ['a fault of the media, which fails each time', 1, 'Error while processing the decoded data', false],
    ['too little memory', 1, 'x264 [error]: malloc of size 9000 failed', true],
    ['too many processes', 1, 'pthread_create failed: Resource temporarily unavailable', true],
    ['a signal', null, '', true],
  ])('that ends ffmpeg by %s is retryable only where a retry helps', (_, exitCode, lastWords, retryable) => {
    const endedBy = exitCode === null ? 'SIGKILL' : null;
    const failure = asJobFailure(new ChildFailure('ffmpeg', { exitCode, endedBy, lastWords }), going);
    expect(failure).toMatchObject({ retryable, code: retryable ? 'ENGINE_ERROR' : 'MEDIA_UNSUPPORTED' });
  });

  test.each([
    Object.assign(new Error('write'), { code: 'ENOSPC' }),
    Object.assign(new Error('write'), { code: 'EROFS' }),
    new ChildFailure('ffmpeg', { exitCode: 1, endedBy: null, lastWords: 'x.wav: No space left on device' }),
  ])('that is a full disk is one of storage: %s', (error) => {
    expect(asJobFailure(error, going)).toMatchObject({ code: 'STORAGE_ERROR' });
  });

  test('that is our own defect, a cancel or a failure already is returned unchanged', () => {
    const fault = new TypeError('x is not a function');
    expect(asJobFailure(fault, going)).toBe(fault);
    const failure = new JobFailure('NO_SPEECH_DETECTED', 'none');
    expect(asJobFailure(failure, going)).toBe(failure);
    const end = new ChildFailure('ffmpeg', { exitCode: null, endedBy: 'SIGTERM', lastWords: '' });
    expect(asJobFailure(end, AbortSignal.abort())).toBe(end);
  });
});
