import type { CallOptions } from './call.ts';
import type { ListFilters } from './jobs/jobs.ts';
import { readBalance, readTransaction } from './read/credits.ts';
import { readList } from './read/record.ts';
import type { CreditBalance, CreditTransaction, ListPage } from './read/resources.ts';
import type { Send } from './transport/send.ts';

export interface Credits {
  balance(options?: CallOptions): Promise<CreditBalance>;
  /** One page of posted lines, newest first. */
  transactions(filters?: ListFilters, options?: CallOptions): Promise<ListPage<CreditTransaction>>;
}

/** Every operation throws Failure, or the reason of the signal when that is aborted. */
export function createCredits(send: Send): Credits {
  return {
    async balance(options = {}) {
      const { body, requestId } = await send({ ...options, method: 'GET', path: '/credits' });
      return readBalance(body, requestId);
    },
    async transactions(filters = {}, options = {}) {
      const call = {
        ...options,
        method: 'GET',
        path: '/credit-transactions',
        query: { ...filters },
      } as const;
      const { body, requestId } = await send(call);
      return readList(body, requestId, readTransaction);
    },
  };
}
