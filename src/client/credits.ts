/** The credits of the account, read leniently. */
import type { CallOptions } from './call.ts';
import type { ListFilters } from './jobs/jobs.ts';
import {
  asNumber,
  asObject,
  asText,
  createPages,
  needNumber,
  needObject,
  type Pages,
  readList,
  readMember,
} from './read/record.ts';
import type { CreditBalance, CreditTransaction } from './read/resources.ts';
import type { Send } from './transport/send.ts';

export interface Credits {
  balance(options?: CallOptions): Promise<CreditBalance>;
  /** Posted lines, newest first: one page to await, all pages with `for await`. */
  transactions(filters?: ListFilters, options?: CallOptions): Pages<CreditTransaction>;
}

/** Every operation throws Failure, or the reason of the signal when that is aborted. */
export function createCredits(send: Send): Credits {
  return {
    async balance(options = {}) {
      const { body, requestId } = await send({ ...options, method: 'GET', path: '/credits' });
      return readBalance(body, requestId);
    },
    transactions: (filters = {}, options = {}) =>
      createPages(async (cursor = filters.cursor) => {
        const query = { ...filters, cursor };
        const { body, requestId } = await send({
          ...options,
          method: 'GET',
          path: '/credit-transactions',
          query,
        });
        return readList(body, requestId, readTransaction);
      }),
  };
}

/** The month of the quota. Source: specification, "Credit balance". */
const QUOTA_TIME_ZONE = 'Asia/Shanghai';

/**
 * The balance: the three figures of the account are needed; limit and remainder may be in the month or beside it.
 * Source: contract, "Credits", tolerant.
 */
export function readBalance(body: unknown, requestId: string | null): CreditBalance {
  const origin = { subject: 'the credits', requestId };
  const object = needObject(origin, body);
  const month = asObject(readMember(object, 'monthly_usage')) ?? {};
  const monthly = (name: string) => asNumber(readMember(month, name) ?? readMember(object, name));
  return {
    object: 'credit_balance',
    balance_credits: needNumber(origin, object, 'balance_credits'),
    reserved_credits: needNumber(origin, object, 'reserved_credits'),
    available_credits: needNumber(origin, object, 'available_credits'),
    monthly_usage: {
      month: asText(readMember(month, 'month')),
      time_zone: asText(readMember(month, 'time_zone')) ?? QUOTA_TIME_ZONE,
      used_credits: monthly('used_credits'),
      limit_credits: monthly('limit_credits'),
      remaining_credits: monthly('remaining_credits'),
      resets_at: asText(readMember(month, 'resets_at')),
    },
  };
}

/** A posted line of the ledger; only the amount is needed. */
export function readTransaction(body: unknown, requestId: string | null): CreditTransaction {
  const origin = { subject: 'the credit transaction', requestId };
  const object = needObject(origin, body);
  return {
    id: asText(readMember(object, 'id')),
    object: 'credit_transaction',
    amount: needNumber(origin, object, 'amount'),
    capability: asText(readMember(object, 'capability')),
    job_id: asText(readMember(object, 'job_id')),
    client_reference: asText(readMember(object, 'client_reference')),
    unit: asText(readMember(object, 'unit')),
    quantity: asNumber(readMember(object, 'quantity')),
    posted_at: asText(readMember(object, 'posted_at')),
  };
}

/** The names of the fields of a balance. */
export function creditBalanceFields(): readonly string[] {
  return Object.keys(readBalance({ balance_credits: 0, reserved_credits: 0, available_credits: 0 }, null));
}

/** The names of the fields of a transaction. */
export function creditTransactionFields(): readonly string[] {
  return Object.keys(readTransaction({ amount: 0 }, null));
}
