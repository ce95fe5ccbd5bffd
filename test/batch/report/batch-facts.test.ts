import { describe, expect, it } from 'vitest';
import { readBatchFacts } from '../../../src/batch/report/batch-facts.ts';
import { ITEM_STATES } from '../../../src/batch/report/item-report.ts';
import { pickLiveIntents } from '../../../src/journal/intents.ts';
import type { LogRecord } from '../../../src/journal/record-line.ts';
import { BEGIN, RECORDS } from '../../journal/support/intents.ts';
import { commandOf, EVERY_STATE, FOLDER, factsOf, keyOf, NOW } from './journal-records.ts';

const factsFrom = (records: readonly LogRecord[]) =>
  readBatchFacts({ records, damage: [], torn: 0 }, FOLDER, NOW);
const facts = factsFrom(EVERY_STATE);
const itemNamed = (name: string) => facts.items.find(({ label }) => label === `${name} → es`);

describe('the facts of a batch', () => {
  it('know each item by its label in the order of the batch, and its state', () => {
    expect(facts.items.map(({ label, state }) => [label, state])).toEqual(
      ITEM_STATES.map((name) => [`${name} → es`, name]),
    );
    expect(Object.values(facts.counts)).toEqual(ITEM_STATES.map(() => 1));
  });

  it('know files, times and attempts of what is done', () => {
    expect(itemNamed('done')).toMatchObject({
      kind: 'dubbing',
      target_language: 'es',
      job_id: 'dub_k-done',
      error: null,
      files: [{ path: '/media/out/one.wav', bytes: 10 }],
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

  it('add up credits without what binary fractions make of them', () => {
    expect(facts.credits).toEqual({ charged: 0.3, reserved: 2 });
    expect(itemNamed('running')?.credits).toEqual({ charged: 0, reserved: 2 });
    expect(itemNamed('waiting')?.credits).toBeNull();
    expect(factsFrom([]).credits).toBeNull();
  });

  it('name the part of the result that a file is, where the journal does not by its place', () => {
    expect(itemNamed('done')?.files).toMatchObject([{ asset: 'audio', path: '/media/out/one.wav' }]);
    const files = ['background_audio', 'vocal_audio', 'of_tomorrow'].map((asset) => ({
      asset,
      path: `/media/out/${asset}.wav`,
      sha256: 'a'.repeat(64),
      size: 10,
    }));
    const named = { ...RECORDS.downloaded({ key: 'k-named' }), files };
    const asked = RECORDS.intend({ key: 'k-named', item: '["audio_separation","talk.mp4",null]' });
    const { items } = factsFrom([asked, named]);
    expect(items[0]?.files.map(({ asset }) => asset)).toEqual(files.map(({ asset }) => asset));
  });

  it('give the time at which the links of a result lapse as the service has told it', () => {
    const key = 'k-told';
    const ended = { ...RECORDS.finished({ key }), expires_at: '2026-11-01T12:00:00.000Z' };
    const { items, next_deadline } = factsFrom([RECORDS.intend({ key, item: keyOf('told') }), ended]);
    expect([items[0]?.deadline, next_deadline]).toEqual([ended.expires_at, ended.expires_at]);
  });

  it('else give the latest time at which they can lapse, a day after the end', () => {
    expect(facts.next_deadline).toBe('2026-11-02T01:00:00.000Z');
    expect(itemNamed('undelivered')?.deadline).toBe(facts.next_deadline);
  });

  it('name the questions without an answer', () => {
    expect(facts.open_questions).toEqual(['unanswered → es']);
  });

  it('judge an item by its newest intent, and count them all', () => {
    const again = RECORDS.intend({ key: 'k-again', item: keyOf('failed'), at: BEGIN + 5000 });
    const { items } = factsFrom([...EVERY_STATE, again, RECORDS.accepted({ key: 'k-again' })]);
    expect(items.find(({ label }) => label === 'failed → es')).toMatchObject({
      state: 'running',
      job_id: 'dub_k-again',
      attempts: 2,
      error: null,
    });
  });

  it('are those of the compacted journal', () => {
    const live = pickLiveIntents(EVERY_STATE);
    expect(live.length).toBeLessThan(EVERY_STATE.length);
    expect(factsFrom(live)).toEqual(facts);
  });

  it('name a paid job whose question is lost to damage', () => {
    const records = [RECORDS.accepted({ key: 'k-lost' })];
    const lost = readBatchFacts(
      { records, damage: [{ kind: 'line', offset: 0, length: 9 }], torn: 0 },
      FOLDER,
      NOW,
    );
    expect(lost).toMatchObject({ items: [], damaged: 1, stray_jobs: ['dub_k-lost'] });
  });

  it('read the name of an item out of its key where nothing else is known of it', () => {
    const { items } = factsFrom([commandOf(['talk.srt'])]);
    expect(items).toMatchObject([{ label: 'talk.srt → es', kind: 'dubbing', state: 'waiting', attempts: 0 }]);
    expect(factsFrom([{ ...factsOf('x'), item: 'other words' }]).items).toMatchObject([
      { key: 'other words' },
    ]);
  });
});
