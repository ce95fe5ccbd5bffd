import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inheritRecords } from '../../src/batch/other-journals.ts';
import { newestIntent } from '../../src/batch/plan/item-key.ts';
import { shardOf } from '../../src/batch/shard.ts';
import { foldIntents } from '../../src/journal/intents.ts';
import type { LogRecord } from '../../src/journal/record-line.ts';
import { RECORDS } from '../journal/support/intents.ts';
import { factsOf, keyOf } from './report/journal-records.ts';

/** The records that a journal takes over from others. */
function inherit(
  own: readonly LogRecord[],
  others: readonly (readonly LogRecord[])[],
  shard?: { index: number; count: number },
) {
  const known = { intents: foldIntents(own), records: own };
  return inheritRecords(
    known,
    others.map((records) => ({ records })),
    { shard },
  );
}

const ask = (name: string, key: string) => [factsOf(name), RECORDS.intend({ key, item: keyOf(name) })];
const made = (name: string, key: string) => [...ask(name, key), RECORDS.accepted({ key })];

describe('a journal of a batch that is now divided differently', () => {
  it('provides the jobs of its own items, and no others', () => {
    const records = ['a', 'b', 'c', 'd', 'e'].flatMap((name) => made(name, `k-${name}`));
    const shards = [1, 2, 3].map((index) => foldIntents(inherit([], [records], { index, count: 3 })));
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const having = shards.flatMap(({ byKey }, place) => (byKey.has(`k-${name}`) ? [place + 1] : []));
      expect([name, having]).toEqual([name, [shardOf(name, 3)]]);
    }
    expect(inherit([], [records])).toEqual(records);
  });

  it('provides what is not known yet, once', () => {
    const own = made('a', 'k1');
    const other = [...own, RECORDS.finished({ key: 'k1' }), RECORDS.downloaded({ key: 'k1' })];
    const news = inherit(own, [other]);
    const after = [...own, ...news];
    expect(newestIntent(keyOf('a'), foldIntents(after))?.outcome.phase).toBe('downloaded');
    expect(inherit(after, [other])).toEqual([]);
  });

  it('does not replace a newer job', () => {
    const old = [...made('a', 'k1'), RECORDS.finished({ key: 'k1', state: 'failed' })];
    const own = [...old, ...ask('a', 'k2')];
    expect(inherit(own, [old])).toEqual([]);
    // In the order of the journals or the other way round, the newest job counts.
    for (const others of [
      [old, own],
      [own, old],
    ]) {
      const taken = foldIntents(inherit([], others));
      expect(newestIntent(keyOf('a'), taken)?.key).toBe('k2');
    }
  });

  it('is not used for commands, names and unusable inputs', () => {
    const other = [
      { type: 'batch_name', batch: '0123456789', is_certain: true },
      { type: 'batch_command', items: [keyOf('a')] },
      { type: 'unusable_input', item: keyOf('a') },
      ...made('a', 'k1'),
      { type: 'billed', key: 'k1', status: 'settled' },
    ];
    expect(inherit([], [other]).map(({ type }) => type)).toEqual([
      'item_facts',
      'intend',
      'accepted',
      'billed',
    ]);
  });

  it('provides the later one of two records about a file of a stage', () => {
    const at = (hour: number) => new Date(Date.UTC(2026, 10, 1, hour)).toISOString();
    const subtitle = (hour: number, path: string) => ({
      type: 'stage_subtitle',
      at: at(hour),
      video: 'a',
      path,
    });
    const video = (hour: number) => ({ type: 'stage_export', at: at(hour), item: keyOf('a'), path: 'a.mp4' });
    const own = [subtitle(2, 'a.srt'), video(1)];
    expect(inherit(own, [[subtitle(1, 'a.srt'), subtitle(1, 'b.srt'), video(2)]])).toEqual([
      subtitle(1, 'b.srt'),
      video(2),
    ]);
  });

  it('leads to the newest job of each item, however often the division changed', () => {
    const counts = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        counts,
        fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 1 }),
        (divisions, names) => {
          const journals = new Map<string, LogRecord[]>();
          for (const [round, count] of divisions.entries()) {
            for (let index = 1; index <= count; index += 1) {
              const shard = { index, count };
              const place = `${index}/${count}`;
              const own = journals.get(place) ?? [];
              const others = [...journals]
                .filter(([name]) => !name.endsWith(`/${count}`))
                .map(([, records]) => records);
              const journal = [...own, ...inherit(own, others, shard)];
              journals.set(place, journal);
              const intents = foldIntents(journal);
              for (const name of names.filter((each) => shardOf(each, count) === index)) {
                // Each round makes a new job, after that of the round before.
                expect(newestIntent(keyOf(name), intents)?.key).toBe(
                  round === 0 ? undefined : `${name}-${round - 1}`,
                );
                journal.push(...made(name, `${name}-${round}`));
              }
            }
          }
        },
      ),
    );
  });
});
