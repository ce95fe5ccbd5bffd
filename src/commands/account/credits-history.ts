import * as v from 'valibot';
import { creditTransactionFields } from '../../client/credits.ts';
import type { CreditTransaction, ListFilters } from '../../client/index.ts';
import { describeUnits } from '../../protocol/metering.ts';
import { shapeOf } from '../../protocol/shape.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { connectService } from '../context/connection.ts';
import { listOptions, readListRequest, readPages } from '../context/lists.ts';
import { describeList, NullableNumber, NullableText } from '../context/output-schemas.ts';
import { printList, type RecordForm } from '../context/records.ts';

export const TRANSACTIONS: RecordForm<CreditTransaction> = {
  plural: 'transactions',
  idOf: (line) => line.id ?? '',
  columns: [
    { head: 'POSTED', field: 'posted_at' },
    { head: 'CREDITS', field: 'amount' },
    { head: { title: 'FOR', drops: 3 }, field: 'capability' },
    { head: { title: 'QUANTITY', drops: 1 }, field: 'quantity', text: quantityOf },
    { head: 'JOB', field: 'job_id' },
    { head: { title: 'REFERENCE', drops: 2 }, field: 'client_reference' },
  ],
};

function quantityOf({ quantity, unit }: CreditTransaction): string {
  if (quantity === null) return '-';
  return unit === null ? String(quantity) : describeUnits(quantity, unit);
}

const TransactionSchema = shapeOf<CreditTransaction>()(
  v.object({
    id: NullableText,
    object: v.literal('credit_transaction'),
    amount: v.number(),
    capability: NullableText,
    job_id: NullableText,
    client_reference: NullableText,
    unit: NullableText,
    quantity: NullableNumber,
    posted_at: NullableText,
  }),
);

const CREDIT_TRANSACTIONS = describeList(TransactionSchema);

export const creditsHistory: Command = defineCommand({
  options: listOptions('listCreditTransactions'),
  fields: creditTransactionFields,
  examples: [
    { command: 'vloc credits history --since 2026-11-01 --all', explains: 'the charges of November so far' },
    {
      command: "vloc credits history --all --jq '.data | map(.amount) | add'",
      explains: 'the sum; charges are negative',
    },
  ],
  notes: ['Lists only charges for jobs of this key; released reservations were not charged.'],
  prints: CREDIT_TRANSACTIONS,
  run: async (context, _operands, options) => {
    const request = readListRequest('listCreditTransactions', options, context.io.now());
    const filters: ListFilters = request.filters;
    const connection = await connectService(context);
    try {
      const { credits } = connection.client;
      const list = await readPages(request, (page) =>
        credits.transactions({ ...filters, ...page }, { signal: context.signal }),
      );
      await printList(context, TRANSACTIONS, list);
      return 0;
    } finally {
      await connection.close();
    }
  },
});
