import { describe, expect, it } from 'vitest';
import { Failure, type FailureCategory } from '../../../src/client/failure.ts';
import { type Outcome, outcomeDocument, summarizeFailures } from '../../../src/commands/job/outcome.ts';

const done: Outcome = { label: 'a.mp4', stem: 'a', job: null, files: [], failure: null };
const failed = (category: FailureCategory): Outcome => ({
  ...done,
  label: 'b.mp4',
  failure: new Failure({ category, code: 'X', message: 'it broke', requestId: 'req_1' }),
});

describe('the end of a run', () => {
  it('is no failure when all went well', () => {
    expect(summarizeFailures([done, done])).toBeNull();
  });

  it('is the failure itself when there was one job', () => {
    const outcome = failed('expired');
    expect(summarizeFailures([outcome])).toBe(outcome.failure);
  });

  it('keeps the category when all failed alike, so that a script sees why', () => {
    expect(summarizeFailures([failed('credits'), failed('credits')])?.facts.category).toBe('credits');
  });

  it('is partial when some succeeded or the reasons differ, and names each', () => {
    expect(summarizeFailures([done, failed('credits')])?.facts.category).toBe('partial');
    const mixed = summarizeFailures([failed('job'), failed('credits')]);
    expect(mixed?.facts.category).toBe('partial');
    expect(mixed?.facts.errors).toHaveLength(2);
  });
});

it('an outcome as JSON names the error with the request id', () => {
  expect(outcomeDocument(failed('job'))).toMatchObject({
    input: 'b.mp4',
    error: { code: 'X', request_id: 'req_1' },
  });
});
