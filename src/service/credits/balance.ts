import type { CreditBalance } from '../../protocol/resources.ts';
import type { Call } from '../call.ts';
import { formatInstant } from '../clock.ts';
import type { Context } from '../context.ts';
import { type Answer, json } from '../http/answer.ts';
import { readAccount, readMonthlyUse } from './account.ts';
import { toCredits } from './amount.ts';
import { monthOf, QUOTA_TIME_ZONE } from './month.ts';

/** `GET /credits`. Source: specification, "Credit balance"; contract, "Credits". */
export function getCredits(context: Context, call: Call): Answer {
  const { key, now } = call;
  const account = readAccount(context.store, now);
  const month = monthOf(now);
  const used = readMonthlyUse(context.store, key.id, month.name);
  const limit = key.monthly_limit;
  const balance: CreditBalance = {
    object: 'credit_balance',
    balance_credits: toCredits(account.balance),
    reserved_credits: toCredits(account.reserved),
    available_credits: toCredits(account.available),
    monthly_usage: {
      month: month.name,
      time_zone: QUOTA_TIME_ZONE,
      used_credits: toCredits(used),
      limit_credits: limit === null ? null : toCredits(limit),
      remaining_credits: limit === null ? null : toCredits(Math.max(0, limit - used)),
      resets_at: formatInstant(month.endsAt),
    },
  };
  return json(200, balance);
}
