import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { limitRun } from '../../../src/commands/jobs/spending.ts';
import { createSession, sessionLimitFailure } from '../../../src/commands/mcp/limits.ts';

const forever = new AbortController().signal;

describe('a session', () => {
  it('adds the credits of all calls, and counts only the newest sum of a call', async () => {
    const session = createSession(10);
    await session.pay(forever, async ({ count }) => {
      count(1);
      count(3);
      expect([session.spent(), session.left()]).toEqual([3, 7]);
    });
    await session.pay(forever, async ({ left, count }) => {
      expect(left()).toBe(7);
      count(4);
      // The run subtracts its own jobs from what it may spend.
      expect(left()).toBe(7);
    });
    expect([session.spent(), session.left()]).toEqual([7, 3]);
  });

  it('never subtracts credits that a call has counted', async () => {
    const session = createSession(10);
    await session.pay(forever, async ({ count }) => {
      count(5);
      count(2);
    });
    expect(session.left()).toBe(5);
  });

  it('keeps the credits of a call that fails', async () => {
    const session = createSession(10);
    const call = session.pay(forever, async ({ count }) => {
      count(4);
      throw new Error('lost');
    });
    await expect(call).rejects.toThrow('lost');
    expect(session.left()).toBe(6);
  });

  it('has no limit without a number, but counts', async () => {
    const session = createSession(null);
    await session.pay(forever, async ({ left, count }) => {
      expect(left()).toBe(Number.POSITIVE_INFINITY);
      count(5);
    });
    expect([session.spent(), session.left()]).toEqual([5, null]);
  });

  it('neither knows what was spent nor what is left once a service does not report what a job costs', async () => {
    const session = createSession(10);
    await session.pay(forever, async ({ left, count }) => {
      count(null);
      expect(left()).toBeNull();
    });
    expect([session.spent(), session.left()]).toEqual([null, null]);
  });

  it('runs paid calls one after the other, in their order, also after one that fails', async () => {
    const session = createSession(null);
    const seen: string[] = [];
    const gate = Promise.withResolvers<void>();
    const first = session.pay(forever, async () => {
      seen.push('first begins');
      await gate.promise;
      seen.push('first ends');
      throw new Error('lost');
    });
    const second = session.pay(forever, async () => seen.push('second'));
    gate.resolve();
    await expect(first).rejects.toThrow('lost');
    await second;
    expect(seen).toEqual(['first begins', 'first ends', 'second']);
  });

  it('does not start a call that was cancelled before its turn', async () => {
    const session = createSession(null);
    const cancel = new AbortController();
    const gate = Promise.withResolvers<void>();
    const first = session.pay(forever, () => gate.promise);
    const second = session.pay(cancel.signal, async () => expect.unreachable());
    cancel.abort(new Error('cancelled'));
    gate.resolve();
    await first;
    await expect(second).rejects.toThrow('cancelled');
  });
});

it('a run of the embedded service costs nothing of the limit of a session', async () => {
  const context = { spending: { left: () => 0, count: () => {} }, signal: forever };
  const connection = { isFree: true, prices: { dubbing: 5 } };
  const options = { maxCredits: null, prices: {} };
  // It looks at no other member.
  const limited = await limitRun(['dubbing'], options as never, connection as never, context as never);
  expect(limited).toEqual({ ...options, prices: { dubbing: 5 } });
});

describe('the advice of a failure', () => {
  const limit = new Failure({
    category: 'credits',
    code: 'MAX_CREDITS_REACHED',
    message: 'too much',
    advice: 'Raise it.',
  });

  it('sends an agent to the user if the session has a limit', () => {
    expect(sessionLimitFailure(limit, 3).facts).toMatchObject({
      code: 'MAX_CREDITS_REACHED',
      advice: expect.stringMatching(/^This session has 3 credits left .*only they can/),
    });
  });

  it('is unchanged without a limit, and for other failures', () => {
    expect(sessionLimitFailure(limit, null)).toBe(limit);
    const other = limit.with({ code: 'INSUFFICIENT_CREDITS' });
    expect(sessionLimitFailure(other, 3)).toBe(other);
  });
});
