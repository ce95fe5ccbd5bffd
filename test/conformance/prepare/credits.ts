/** Reads the credits of the account. */
import assert from 'node:assert/strict';
import { expectStatus } from '../expect/answer.ts';
import type { Caller } from '../wire/caller.ts';
import { asObject, isObject, type JsonObject, numberAt, valueAt } from '../wire/json.ts';

export interface Balance {
  readonly json: JsonObject;
  readonly balance: number;
  readonly reserved: number;
  readonly available: number;
}

/** Reads `GET /credits`. Fails unless it is 200 with the three amounts. */
export async function readBalance(caller: Caller): Promise<Balance> {
  const answer = await caller.get('/credits');
  expectStatus(answer, 200);
  return {
    json: asObject(answer.json),
    balance: numberAt(answer.json, 'balance_credits'),
    reserved: numberAt(answer.json, 'reserved_credits'),
    available: numberAt(answer.json, 'available_credits'),
  };
}

/** Returns a member of the balance, which may be at the top level or in `monthly_usage`. */
export function quotaMember({ json }: Balance, name: 'limit_credits' | 'remaining_credits'): unknown {
  const { monthly_usage: usage } = json;
  const place = [json, usage].find((each) => isObject(each) && Object.hasOwn(each, name));
  if (place === undefined) assert.fail(`${name} is missing in the balance`);
  return valueAt(place, name);
}

/** Returns the credits that this key's jobs of this month used or reserved. */
export function usedCredits({ json }: Balance): number {
  return numberAt(json, 'monthly_usage', 'used_credits');
}

/** Credits are decimal numbers, so sums are compared to the thousandth. */
export function expectCredits(found: number, expected: number, what: string): void {
  assert.equal(found.toFixed(3), expected.toFixed(3), what);
}
