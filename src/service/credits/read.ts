/** The two GET operations of credits. */
import type { JobKind } from '../../protocol/kind-names.ts';
import type { MeteringUnit } from '../../protocol/kinds.ts';
import { toCredits } from '../../protocol/metering.ts';
import type { CreditBalanceResource, CreditTransactionResource } from '../../protocol/resources.ts';
import { permissionsOf } from '../auth/keys.ts';
import { formatInstant } from '../clock.ts';
import type { OperationCall, ServiceContext } from '../context.ts';
import { createJsonResponse, type ServiceResponse } from '../http/exchange.ts';
import { readPage } from '../lists.ts';
import { monthOf, QUOTA_TIME_ZONE, readAccount, readMonthlyUse } from './account.ts';

/** `GET /credits`. Source: specification, "Credit balance"; contract, "Credits". */
export async function getCredits(context: ServiceContext, call: OperationCall): Promise<ServiceResponse> {
  const { key, now } = call;
  const account = await readAccount(context.store, now);
  const month = monthOf(now);
  const used = await readMonthlyUse(context.store, key.id, month.name);
  const limit = key.monthly_limit;
  const balance: CreditBalanceResource = {
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
  return createJsonResponse(200, balance);
}

interface Row {
  readonly id: string;
  readonly amount: number;
  readonly posted_at: number;
  readonly job_id: string;
  readonly kind: JobKind;
  readonly client_reference: string | null;
  readonly unit: MeteringUnit;
  readonly quantity: number;
}

/** `GET /credit-transactions`: posted lines of this key's jobs, for capabilities that the key still has. */
export async function listCreditTransactions(
  context: ServiceContext,
  call: OperationCall,
): Promise<ServiceResponse> {
  const permitted = permissionsOf(call.key);
  const page = await readPage<Row, CreditTransactionResource>(context, call, {
    table: 'ledger',
    columns: 'id, amount, posted_at, job_id, kind, client_reference, unit, quantity',
    timeColumn: 'posted_at',
    conditions: [{ sql: `kind IN (${permitted.map(() => '?').join(', ')})`, values: permitted }],
    filters: {},
    positionOf: (row) => ({ time: row.posted_at, id: row.id }),
    present: (row) => ({
      id: row.id,
      object: 'credit_transaction',
      amount: toCredits(row.amount),
      capability: row.kind,
      job_id: row.job_id,
      client_reference: row.client_reference,
      unit: row.unit,
      quantity: row.quantity,
      posted_at: formatInstant(row.posted_at),
    }),
  });
  return createJsonResponse(200, page);
}
