import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readBalance, readTransaction } from '../../../src/client/credits.ts';
import { assetsOf, Failure, type Job } from '../../../src/client/index.ts';
import { readJob } from '../../../src/client/read/job.ts';
import { readList } from '../../../src/client/read/record.ts';
import { readUpload } from '../../../src/client/read/upload.ts';
import { readProblem } from '../../../src/client/transport/answer.ts';
import { JOB_KIND_NAMES } from '../../../src/protocol/kind-names.ts';

const SHA = 'ab'.repeat(32);

function failureIn(work: () => unknown): Failure {
  try {
    work();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('it succeeded, and should not have');
}

function succeeded(result: unknown, more: object = {}): Job {
  return readJob('audio_separation', { id: 'sep_1', status: 'succeeded', result, ...more }, 'req_1');
}

describe('the files of a result', () => {
  test('are read in every form of the contract, and the earliest expiry counts', () => {
    const job = succeeded(
      {
        vocal_audio: {
          url: 'https://a/v',
          expires_at: 'asset',
          size_bytes: 5,
          sha256: SHA.toUpperCase(),
          content_type: 'audio/wav',
        },
        background_audio: { download_url: 'https://a/b', size_bytes: '7', sha256: 'junk' },
        expires_at: 'result',
        something_new: { url: 'https://a/x' },
      },
      { expires_at: 'job' },
    );
    expect(assetsOf(job)).toMatchObject([
      {
        name: 'vocal_audio',
        asset: {
          url: 'https://a/v',
          expires_at: 'asset',
          size_bytes: 5,
          sha256: SHA,
          content_type: 'audio/wav',
        },
        kindPart: { extension: '.wav', label: 'vocals' },
      },
      {
        name: 'background_audio',
        asset: { url: 'https://a/b', expires_at: 'result', size_bytes: 7, sha256: null, content_type: null },
      },
    ]);
  });

  test('may be bare addresses, which expire with the job', () => {
    const job = succeeded(
      { vocal_audio: 'https://a/v', background_audio: 'https://a/b' },
      { expires_at: 'job' },
    );
    expect(assetsOf(job).map(({ asset }) => asset)).toEqual(
      ['https://a/v', 'https://a/b'].map((url) => ({
        url,
        expires_at: 'job',
        content_type: null,
        size_bytes: null,
        sha256: null,
      })),
    );
  });

  test.each([null, {}, { vocal_audio: {} }, { vocal_audio: 5 }, { vocal_audio: [] }])(
    'that are missing in %j are named, with job and request',
    (result) => {
      const { facts } = failureIn(() => assetsOf(succeeded(result)));
      expect(facts).toMatchObject({ code: 'ANSWER_INCOMPLETE', requestId: 'req_1', jobId: 'sep_1' });
      expect(facts.message).toContain('`result.vocal_audio`');
    },
  );

  test('do not exist before the job succeeded', () => {
    expect(assetsOf(readJob('dubbing', { id: 'dub_1', status: 'processing' }, null))).toEqual([]);
  });

  test('are every file of the table of kinds, and nothing else', () => {
    const every = { vocal_audio: 'u', background_audio: 'u', subtitle: 'u', audio: 'u', video: 'u' };
    const names = JOB_KIND_NAMES.map((kind) =>
      assetsOf(readJob(kind, { id: 'x', status: 'succeeded', result: every }, null)).map(({ name }) => name),
    );
    expect(names).toEqual([
      ['vocal_audio', 'background_audio'],
      ['subtitle'],
      ['subtitle'],
      ['audio'],
      ['video'],
    ]);
  });
});

describe('a job', () => {
  test('keeps error codes and billing states that this version does not know', () => {
    const job = readJob(
      'dubbing',
      {
        id: 'd',
        status: 'failed',
        error: { code: 'NEW_CODE', message: 'why', retryable: true },
        billing: { status: 'odd', charged_credits: '1.5' },
      },
      null,
    );
    expect(job.error).toEqual({ code: 'NEW_CODE', message: 'why', retryable: true });
    expect(job.billing).toMatchObject({ status: 'odd', charged_credits: 1.5, quantity: null });
  });

  test.each([
    [{}, 'id'],
    [{ id: 'd' }, 'status'],
    [{ id: 'd', status: '' }, 'status'],
    [{ id: 7, status: 'queued' }, 'id'],
  ])('from %j fails naming the field %s and the request', (body, field) => {
    const { facts } = failureIn(() => readJob('dubbing', body, 'req_7'));
    expect(facts).toMatchObject({
      code: 'ANSWER_INCOMPLETE',
      requestId: 'req_7',
      errors: [{ pointer: `/${field}` }],
    });
  });
});

describe('credits', () => {
  const account = { balance_credits: 10, reserved_credits: 2.5, available_credits: '7.250' };

  test('have the limit of the month inside the month or beside it', () => {
    const inside = readBalance(
      { ...account, monthly_usage: { limit_credits: 5, remaining_credits: 1, used_credits: 4 } },
      null,
    );
    const beside = readBalance({ ...account, limit_credits: 5, remaining_credits: 1 }, null);
    expect(inside.monthly_usage).toMatchObject({ limit_credits: 5, remaining_credits: 1, used_credits: 4 });
    expect(beside).toMatchObject({
      available_credits: 7.25,
      monthly_usage: { limit_credits: 5, remaining_credits: 1, used_credits: null },
    });
  });

  test('without a balance name the field', () => {
    expect(failureIn(() => readBalance({ ...account, balance_credits: null }, 'req_1')).message).toContain(
      '`balance_credits`',
    );
    expect(failureIn(() => readTransaction({}, 'req_1')).message).toContain('`amount`');
  });
});

test('with more pages need a cursor', () => {
  expect(failureIn(() => readList({ data: [], has_more: true }, 'req_1', (item) => item)).message).toContain(
    '`next_cursor`',
  );
  expect(readList({ data: [1], next_cursor: 'c' }, null, (item) => item)).toMatchObject({ has_more: true });
  expect(readList({ data: [] }, null, (item) => item)).toMatchObject({ has_more: false, next_cursor: null });
});

test('are read or refused with a Failure, whatever the JSON', () => {
  const readers = [
    (body: unknown) => JOB_KIND_NAMES.map((kind) => assetsOf(readJob(kind, body, null))),
    (body: unknown) => readUpload(body, null),
    (body: unknown) => readBalance(body, null),
    (body: unknown) => readTransaction(body, null),
    (body: unknown) => readList(body, null, (item) => readUpload(item, null)),
    (body: unknown) => readProblem(body, 'application/problem+json'),
  ];
  const key = fc.constantFrom(
    'id',
    'status',
    'result',
    'url',
    'upload_request',
    'headers',
    'data',
    'errors',
    '__proto__',
    'constructor',
    'error',
    'video',
    'engines',
    'skipped',
    'cues',
    'fit',
  );
  const leaf = fc.oneof(fc.constantFrom('succeeded', 'ready', 'x', '', null, true, -1, 1e308), fc.string());
  const { body } = fc.letrec((tie) => ({
    body: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('body'), { maxLength: 4 }),
      fc.dictionary(key, tie('body')),
    ),
  }));
  fc.assert(
    fc.property(body, (value) => {
      for (const read of readers) {
        try {
          read(value);
        } catch (error) {
          expect(error).toBeInstanceOf(Failure);
        }
      }
    }),
    { numRuns: 500 },
  );
});
