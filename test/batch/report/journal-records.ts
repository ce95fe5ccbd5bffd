/** The journal of a batch with one item in each state, named by it, record by record. */

import type { BatchRecord } from '../../../src/batch/records/batch-records.ts';
import { type BatchCommand, createBatchCommand } from '../../../src/batch/records/command-record.ts';
import type { ItemFacts } from '../../../src/batch/records/item-facts.ts';
import { ITEM_STATES } from '../../../src/batch/report/item-report.ts';
import { BEGIN, RECORDS } from '../records/support/attempts.ts';

const HOUR_MS = 3_600_000;
export const NOW = BEGIN + 10 * HOUR_MS;
export const FOLDER = '/media/out';
const DAY_MS = 24 * HOUR_MS;

export const keyOf = (name: string) => JSON.stringify(['dubbing', name, 'es']);

export function factsOf(name: string, label = `${name} → es`): ItemFacts {
  return {
    type: 'item_facts',
    item: keyOf(name),
    label,
    kind: 'dubbing',
    path: `/media/${name}`,
    size: 10,
    mtime_ms: 0,
    audio_track: 1,
    sha256: null,
    fields: {},
  };
}

export function commandOf(
  names: readonly string[],
  at = BEGIN,
  argv = ['dub', 'subs', '--to', 'es'],
): BatchCommand {
  return createBatchCommand({
    at: new Date(at).toISOString(),
    argv,
    cwd: '/media',
    profile: null,
    kind: 'dubbing',
    operands: argv.slice(1, 2),
    options: { to: ['es'] },
    items: names.map(keyOf),
  });
}

const intend = (name: string, at = BEGIN) => [
  factsOf(name),
  RECORDS.asked({ key: `k-${name}`, item: keyOf(name), at }),
];

export const EVERY_STATE: readonly BatchRecord[] = [
  commandOf(ITEM_STATES),
  ...intend('done'),
  RECORDS.accepted({ key: 'k-done', at: BEGIN + 1000 }),
  {
    type: 'changed',
    key: 'k-done',
    bill_status: 'settled',
    quantity: 1,
    reserved: 0.3,
    charged: 0.1,
  },
  RECORDS.finished({ key: 'k-done', at: BEGIN + 61_000 }),
  {
    ...RECORDS.downloaded({ key: 'k-done', at: BEGIN + 62_500 }),
    files: [{ path: '/media/out/one.wav', sha256: 'a'.repeat(64), size: 10 }],
  },
  ...intend('undelivered'),
  RECORDS.accepted({ key: 'k-undelivered' }),
  {
    type: 'changed',
    key: 'k-undelivered',
    bill_status: 'settled',
    quantity: 1,
    reserved: 1,
    charged: 0.2,
  },
  RECORDS.finished({ key: 'k-undelivered', at: BEGIN + HOUR_MS }),
  ...intend('running'),
  RECORDS.accepted({ key: 'k-running' }),
  {
    type: 'changed',
    key: 'k-running',
    bill_status: 'reserved',
    quantity: 1,
    reserved: 2,
    charged: null,
  },
  ...intend('unanswered'),
  ...intend('refused'),
  {
    ...RECORDS.refused({ key: 'k-refused' }),
    message: 'the balance does not cover this job',
    request_id: 'req_7',
  },
  ...intend('failed'),
  RECORDS.accepted({ key: 'k-failed' }),
  RECORDS.finished({ key: 'k-failed', state: 'failed' }),
  ...intend('cancelled'),
  RECORDS.accepted({ key: 'k-cancelled' }),
  RECORDS.finished({ key: 'k-cancelled', state: 'cancelled' }),
  ...intend('expired', BEGIN - 8 * DAY_MS),
  RECORDS.accepted({ key: 'k-expired', at: BEGIN - 8 * DAY_MS }),
];
