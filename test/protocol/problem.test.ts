import { describe, expect, it } from 'vitest';
import { describeProblem, PROBLEM_CONTENT_TYPE } from '../../src/protocol/problem.ts';

const about = {
  detail: 'limit is 51, at most 50 is allowed',
  instance: '/v1/uploads',
  requestId: 'req_1',
  docsUrl: 'https://docs.example.com',
};

describe('the body of an error', () => {
  it('has exactly the members of the specification', () => {
    expect(describeProblem('INVALID_REQUEST', about)).toEqual({
      type: 'https://docs.example.com/errors/invalid_request',
      title: 'The request is not valid',
      status: 400,
      detail: 'limit is 51, at most 50 is allowed',
      instance: '/v1/uploads',
      code: 'INVALID_REQUEST',
      request_id: 'req_1',
      retryable: false,
    });
  });

  it('takes status and retryable from the code', () => {
    expect(describeProblem('SERVICE_TEMPORARILY_UNAVAILABLE', about)).toMatchObject({
      status: 503,
      retryable: true,
    });
    expect(describeProblem('CREDIT_QUOTA_EXCEEDED', about)).toMatchObject({ status: 429, retryable: false });
  });

  it('lists the invalid fields if there are any', () => {
    const errors = [{ pointer: '/limit', detail: 'at most 50' }];
    expect(describeProblem('INVALID_REQUEST', { ...about, errors }).errors).toEqual(errors);
  });

  it('has a content type of its own', () => {
    expect(PROBLEM_CONTENT_TYPE).toBe('application/problem+json');
  });
});
