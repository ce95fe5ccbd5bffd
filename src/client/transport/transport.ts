/** Signed calls: retry around sign around send. Source: contract, "Signing"; design, "Transport". */

import { Failure } from '../../errors/failure.ts';
import type { Answer, Call } from '../call.ts';
import type { ClientContext } from '../context.ts';
import { type RawAnswer, readAnswer, requestIdFact } from './answer.ts';
import { BodyTooLarge } from './collect.ts';
import { describeNetworkError } from './describe-error.ts';
import { exchange } from './exchange.ts';
import { prepareRequest } from './prepare.ts';
import { type Outcome, withRetries } from './retry-loop.ts';
import { detectSkew } from './skew.ts';
import { gatewayFacts, judgeAnswer, UNREADABLE } from './verdict.ts';

/**
 * Sends one signed call, as often as it takes.
 * @throws Failure; the reason of the call's signal when that is aborted
 */
export type Send = (call: Call) => Promise<Answer>;

/** Makes the function that all signed calls go through. */
export function createSend(context: ClientContext): Send {
  return async (call) => {
    const request = prepareRequest(context, call);
    const http = await context.http();
    let clockCorrected = false;
    return withRetries(context, call, async (number): Promise<Outcome<Answer>> => {
      const offset = context.clock.offset;
      try {
        const raw = await exchange(context, http, call, request, number);
        const outcome = readAnswer(raw, context.clock.now());
        if (outcome.type === 'done' || clockCorrected) return outcome;
        // The clock of a gateway says nothing about that of the service.
        if (outcome.failure.facts.origin !== 'api' || !correctClock(context, raw, offset)) return outcome;
        clockCorrected = true;
        return { ...outcome, advice: { type: 'at-once' } };
      } catch (error) {
        call.signal?.throwIfAborted();
        return describeAttempt(error, context.base.origin);
      }
    });
  };
}

function describeAttempt(error: unknown, origin: string): Outcome<never> {
  if (error instanceof BodyTooLarge) {
    const { status } = error;
    const verdict = judgeAnswer({ origin: 'gateway', status, code: UNREADABLE.tooLarge, retryable: null });
    const facts = gatewayFacts(verdict, status, error.message, 'the API');
    const failure = new Failure({ ...facts, ...requestIdFact(error.headers) });
    return { type: 'failed', failure, advice: { type: 'never' } };
  }
  return { type: 'failed', ...describeNetworkError(error, new URL(origin).host) };
}

/** True when the clock was the reason of the refusal, and is right now. */
function correctClock(context: ClientContext, raw: RawAnswer, offsetUsed: number): boolean {
  const { clock, runtime, emit } = context;
  const answer = { status: raw.status, date: raw.headers.date, aged: 'age' in raw.headers };
  const offset = detectSkew(answer, runtime.now(), offsetUsed);
  if (offset === null) return false;
  if (clock.correct(offset)) emit({ type: 'skew', seconds: Math.round(-offset / 1000) });
  return true;
}
