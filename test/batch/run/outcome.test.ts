import { describe, expect, it } from 'vitest';
import { EXIT_CODES } from '../../../src/base/exit-codes.ts';
import { Failure, type FailureCategory, type FailureFacts } from '../../../src/base/failure.ts';
import type { BatchOutcome, StopReason } from '../../../src/batch/item.ts';
import { summarizeFailure } from '../../../src/batch/run/outcome.ts';
import { linesItem } from './support/items.ts';

type State = BatchOutcome['state'];

const done: State = { phase: 'done', jobId: 'tra_1', files: [], credits: 1, before: null };
const failed = (category: FailureCategory, code = 'X', facts: Partial<FailureFacts> = {}): State => ({
  phase: 'failed',
  jobId: null,
  failure: new Failure({ category, code, message: `met ${code}`, ...facts }),
});
const noCredits = failed('credits', 'INSUFFICIENT_CREDITS', { origin: 'api', blame: 'credits' });
const noQuota = failed('credits', 'CREDIT_QUOTA_EXCEEDED', { origin: 'api', blame: 'quota' });
const left = (because: StopReason, jobId: string | null = null): State => ({ phase: 'left', jobId, because });
const outcomesOf = (...states: readonly State[]) =>
  states.map((state, index) => ({ item: linesItem(index), state }));

describe('the exit code of a run', () => {
  it.each<readonly [string, readonly State[], number]>([
    ['all done', [done, done], 0],
    ['nothing to do', [], 0],
    ['nobody waits', [left('detached', 'tra_1'), done], 0],
    ['one of several failed', [done, failed('job')], 3],
    ['all failed the same way', [failed('job'), failed('job')], 5],
    ['all failed in different ways', [failed('job'), failed('usage')], 3],
    ['a single one failed', [failed('expired')], 9],
    ['the credits were used up', [done, noCredits, left('no-credits')], 6],
    ['the credits were used up for all the rest', [done, noCredits, noCredits], 6],
    ['the quota was used up', [done, failed('job'), left('quota')], 6],
    ['--max-credits was reached', [done, left('max-credits')], 6],
    ['--max-duration was over', [done, left('max-duration')], 3],
    ['--max-duration was over after the last', [done, done], 0],
    ['the key was refused', [failed('configuration'), left('authentication')], 4],
    ['the service was unreachable', [failed('temporary'), left('network')], 7],
    ['--timeout was over', [done, left('timeout', 'tra_2')], 8],
  ])('%s', (_name, states, code) => {
    const failure = summarizeFailure(outcomesOf(...states));
    expect(EXIT_CODES[failure?.facts.category ?? 'done'].code).toBe(code);
  });

  it('comes with the failure itself for a single item', () => {
    const failure = summarizeFailure(outcomesOf(failed('refused', 'LANGUAGE_NOT_SUPPORTED')));
    expect(failure?.facts).toMatchObject({
      code: 'LANGUAGE_NOT_SUPPORTED',
      message: 'met LANGUAGE_NOT_SUPPORTED',
    });
  });

  it('distinguishes the quota of the key from the credits of the account', () => {
    expect(summarizeFailure(outcomesOf(done, noQuota, noQuota))?.facts.code).toBe('CREDIT_QUOTA_EXCEEDED');
  });

  it('says what was refused, and blames the key for nothing else', () => {
    const advice = 'Add this machine to the allow-list.';
    const code = 'SOURCE_IP_NOT_ALLOWED';
    const refused = failed('configuration', code, { origin: 'api', blame: 'address', advice });
    const failure = summarizeFailure(outcomesOf(refused, left('authentication'), left('authentication')));
    expect(failure?.facts).toMatchObject({
      category: 'configuration',
      code,
      message:
        "the address of this machine is not on the key's allow-list: 0 of 3 done, 1 failed, 2 not started",
      advice: `${advice} Then run the same command again: only the rest runs.`,
    });
  });

  it('comes with counts and with every failure for several items', () => {
    const states = [done, left('no-credits'), left('no-credits', 'tra_3'), failed('job', 'ENGINE_ERROR')];
    const failure = summarizeFailure(outcomesOf(...states));
    expect(failure?.message).toContain('1 of 4 done, 1 still running, 1 failed, 1 not started');
    expect(failure?.facts.errors).toEqual([
      { pointer: 'talk-3.srt → es', detail: 'met ENGINE_ERROR (ENGINE_ERROR)' },
    ]);
  });
});
