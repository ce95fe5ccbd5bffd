import * as v from 'valibot';
import { creditBalanceFields } from '../../client/credits.ts';
import type { CreditBalance } from '../../client/index.ts';
import { shapeOf } from '../../protocol/shape.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { connectService } from '../context/connection.ts';
import { formatRelative } from '../context/format.ts';
import { describeRecord, NullableNumber, NullableText } from '../context/output-schemas.ts';
import { printRecord, type RecordForm } from '../context/records.ts';

const BALANCE: RecordForm<CreditBalance> = {
  plural: 'balances',
  // The figure that scripts need most.
  idOf: (balance) => String(balance.available_credits),
  columns: [
    { head: 'AVAILABLE', field: 'available_credits' },
    { head: 'BALANCE', field: 'balance_credits' },
    { head: 'RESERVED', field: 'reserved_credits' },
    { head: 'THIS MONTH', field: 'monthly_usage', text: monthText },
  ],
};

/** `12 of 500 used, 488 left, new in 9 d`. */
function monthText({ monthly_usage: month }: CreditBalance, nowMs: number): string {
  const used = `${month.used_credits ?? '?'}${month.limit_credits === null ? '' : ` of ${month.limit_credits}`} used`;
  const left = month.limit_credits === null ? 'no limit' : `${month.remaining_credits ?? '?'} left`;
  const renewed = month.resets_at === null ? '' : `, new month ${formatRelative(month.resets_at, nowMs)}`;
  return `${used}, ${left}${renewed}`;
}

const BalanceSchema = shapeOf<CreditBalance>()(
  v.object({
    object: v.literal('credit_balance'),
    balance_credits: v.number(),
    reserved_credits: v.number(),
    available_credits: v.number(),
    monthly_usage: v.object({
      month: NullableText,
      time_zone: v.string(),
      used_credits: NullableNumber,
      limit_credits: NullableNumber,
      remaining_credits: NullableNumber,
      resets_at: NullableText,
    }),
  }),
);

const CREDIT_BALANCE = describeRecord(BalanceSchema);

export const credits: Command = defineCommand({
  options: {},
  fields: creditBalanceFields,
  examples: [
    { command: 'vloc credits', explains: 'the balance of the account, and the monthly quota of this key' },
    { command: 'vloc credits --output id', explains: 'only the available credits' },
    {
      command: 'vloc credits --jq .monthly_usage.remaining_credits',
      explains: 'the credits that this key may still use this month',
    },
  ],
  notes: [
    '"Available" excludes reserved and expired credits. "No limit" refers to the quota of this key, not of the account.',
  ],
  prints: CREDIT_BALANCE,
  run: async (context) => {
    const connection = await connectService(context);
    try {
      const balance = await connection.client.credits.balance({ signal: context.signal });
      await printRecord(context, BALANCE, balance);
      return 0;
    } finally {
      await connection.close();
    }
  },
});
