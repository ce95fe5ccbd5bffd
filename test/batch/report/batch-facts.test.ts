import { describe, expect, it } from 'vitest';
import type { BatchRecord } from '../../../src/batch/records/batch-records.ts';
import { createUnusableRecord } from '../../../src/batch/records/unusable-inputs.ts';
import { readBatchFacts } from '../../../src/batch/report/batch-facts.ts';
import { describeItemCosts } from '../../../src/batch/report/costs.ts';
import { ITEM_STATES } from '../../../src/batch/report/item-report.ts';
import { BEGIN, RECORDS } from '../records/support/attempts.ts';
import { recordsOf } from '../records/support/records-of.ts';
import { commandOf, EVERY_STATE, FOLDER, factsOf, keyOf, NOW } from './journal-records.ts';

const factsFrom = (records: readonly BatchRecord[]) => readBatchFacts(recordsOf(records), FOLDER, NOW);
const facts = factsFrom(EVERY_STATE);
const itemNamed = (name: string) => facts.items.find(({ label }) => label === `${name} → es`);

describe('the facts of a batch', () => {
  it('know each item by its label in the order of the batch, and its state', () => {
    expect(facts.items.map(({ label, state }) => [label, state])).toEqual(
      ITEM_STATES.map((name) => [`${name} → es`, name]),
    );
    expect(Object.values(facts.counts)).toEqual(ITEM_STATES.map(() => 1));
  });

  it('know files, times and attempts of finished items', () => {
    expect(itemNamed('done')).toMatchObject({
      kind: 'dubbing',
      target_language: 'es',
      job_id: 'dub_k-done',
      error: null,
      files: [{ asset: 'audio', path: '/media/out/one.wav', bytes: 10 }],
      attempts: 1,
      asked_at: '2026-11-01T00:00:00.000Z',
      created_at: '2026-11-01T00:00:01.000Z',
      finished_at: '2026-11-01T00:01:01.000Z',
      downloaded_at: '2026-11-01T00:01:02.500Z',
      deadline: null,
    });
  });

  it('say why something failed, and with which request', () => {
    expect(itemNamed('refused')?.error).toEqual({
      code: 'INSUFFICIENT_CREDITS',
      message: 'the balance does not cover this job',
      retryable: false,
      request_id: 'req_7',
    });
    expect(itemNamed('failed')).toMatchObject({
      job_id: 'dub_k-failed',
      error: { code: 'ENGINE_ERROR', message: 'it broke', retryable: true },
    });
    expect(itemNamed('cancelled')?.error?.code).toBe('JOB_CANCELLED');
    expect(itemNamed('expired')?.error?.code).toBe('RESULT_EXPIRED');
  });

  it('add up credits without rounding errors of binary fractions', () => {
    expect(facts.credits).toMatchObject({ charged: 0.3, reserved: 2 });
    expect(itemNamed('running')?.credits).toEqual({ charged: 0, reserved: 2 });
    expect(itemNamed('waiting')?.credits).toBeNull();
    expect(factsFrom([]).credits).toBeNull();
  });

  it('say for which jobs the cost is unknown, and never call it 0', () => {
    const cheap = [commandOf(['done']), factsOf('done'), RECORDS.asked({ key: 'k', item: keyOf('done') })];
    const made = [...cheap, RECORDS.accepted({ key: 'k' })];
    expect(factsFrom(cheap).credits).toBeNull();
    expect(factsFrom(made).items[0]?.credits).toBeNull();
    expect(factsFrom(made).credits).toEqual({ charged: 0, reserved: 0, unknown: 1 });
    const empty = { type: 'changed', key: 'k', bill_status: null, quantity: null, reserved: null } as const;
    const measured = factsFrom([...made, { ...empty, quantity: 7, charged: null }]).items;
    expect(measured[0]?.units).toEqual([{ unit: 'started_thousand_characters', quantity: 7 }]);
    expect(describeItemCosts(measured)).toBe('7 started thousands of characters');
    expect(factsFrom([...made, { ...empty, charged: null }]).credits?.unknown).toBe(1);
    expect(factsFrom([...made, { ...empty, charged: 2 }]).credits).toEqual({
      charged: 2,
      reserved: 0,
      unknown: 0,
    });
  });

  it('count the credits of the embedded service, and show no cost', () => {
    const asked = (key: string, is_free: boolean) => ({
      ...RECORDS.asked({ key, item: keyOf('both') }),
      is_free,
    });
    const bill = { type: 'changed', bill_status: 'settled', quantity: 2, reserved: 2 } as const;
    const free = [factsOf('both'), asked('k', true), { ...bill, key: 'k', charged: 2 }];
    const { items, credits } = factsFrom(free);
    expect([items[0]?.is_free, credits?.charged, describeItemCosts(items)]).toEqual([true, 2, null]);
    const paid = factsFrom([...free, asked('k2', false), { ...bill, key: 'k2', charged: 3 }]);
    expect(paid.items[0]?.is_free).toBeUndefined();
    expect(describeItemCosts(paid.items)).toBe('5 credits');
  });

  it('contain the expiry of the links of a result as stated by the service', () => {
    const key = 'k-told';
    const ended = { ...RECORDS.finished({ key }), expires_at: '2026-11-01T12:00:00.000Z' };
    const { items, next_deadline } = factsFrom([RECORDS.asked({ key, item: keyOf('told') }), ended]);
    expect([items[0]?.deadline, next_deadline]).toEqual([ended.expires_at, ended.expires_at]);
  });

  it('otherwise contain the latest possible expiry, a day after the end', () => {
    expect(facts.next_deadline).toBe('2026-11-02T01:00:00.000Z');
    expect(itemNamed('undelivered')?.deadline).toBe(facts.next_deadline);
  });

  it('name the requests without an answer', () => {
    expect(facts.open_questions).toEqual(['unanswered → es']);
  });

  it('judge an item by its newest attempt, and count all attempts', () => {
    const again = RECORDS.asked({ key: 'k-again', item: keyOf('failed'), at: BEGIN + 5000 });
    const { items } = factsFrom([...EVERY_STATE, again, RECORDS.accepted({ key: 'k-again' })]);
    expect(items.find(({ label }) => label === 'failed → es')).toMatchObject({
      state: 'running',
      job_id: 'dub_k-again',
      attempts: 2,
      error: null,
    });
  });

  it('count the damaged places of the records', () => {
    const lost = readBatchFacts(recordsOf([], { damage: ['a row is gone'] }), FOLDER, NOW);
    expect(lost).toMatchObject({ items: [], damaged: 1 });
  });

  it('name the items that no command names any more in the order of their names, not of their requests', () => {
    const names = ['talk 10', 'talk 2', 'a'];
    const { unnamed } = factsFrom([commandOf(['done']), ...names.map((name) => factsOf(name))]);
    expect(unnamed).toEqual(['a → es', 'talk 2 → es', 'talk 10 → es']);
  });

  it('read the name of an item from its key if nothing else is known of it', () => {
    const { items } = factsFrom([commandOf(['talk.srt'])]);
    expect(items).toMatchObject([{ label: 'talk.srt → es', kind: 'dubbing', state: 'waiting', attempts: 0 }]);
    expect(factsFrom([{ ...factsOf('x'), item: 'other words' }]).items).toMatchObject([
      { key: 'other words' },
    ]);
  });
});

describe('an item whose file could not be used', () => {
  const unusable = (name: string) =>
    createUnusableRecord({ key: keyOf(name), label: `${name} → es` }, 'it is empty; copy it again', BEGIN);
  const failed = [commandOf(['a']), unusable('a')];

  it('has failed, with its reason and without a job', () => {
    expect(factsFrom(failed).items).toMatchObject([
      {
        label: 'a → es',
        state: 'failed',
        job_id: null,
        credits: null,
        error: { code: 'NOT_USABLE', message: 'it is empty; copy it again', retryable: false },
      },
    ]);
  });
});
