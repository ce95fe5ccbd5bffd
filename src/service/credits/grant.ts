import type { IdSubject } from '../../protocol/id-prefixes.ts';
import type { Store } from '../store/store.ts';
import { toThousandths } from './amount.ts';

/**
 * Posts credits to the account.
 * @param grant credits, above 0; `expiresAt` in ms since 1970, null: never
 */
export function grantCredits(
  store: Store,
  grant: { credits: number; expiresAt: number | null },
  now: number,
  makeId: (subject: IdSubject) => string,
): void {
  const amount = toThousandths(grant.credits);
  if (!Number.isSafeInteger(amount) || amount <= 0) throw new RangeError('a grant must be above 0 credits');
  store.transaction(() => {
    const id = makeId('credit_transaction');
    store.run('INSERT INTO ledger (id, amount, posted_at) VALUES (?, ?, ?)', id, amount, now);
    store.run('INSERT INTO grants (id, remaining, expires_at) VALUES (?, ?, ?)', id, amount, grant.expiresAt);
  });
}
