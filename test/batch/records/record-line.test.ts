import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeLog,
  decodeRecords,
  describeDamage,
  encodeLog,
  encodeRecords,
} from '../../../src/batch/records/record-line.ts';
import { runs } from '../../protocol/arbitraries.ts';

const records = Array.from({ length: 6 }, (_, number) => ({
  type: 'line',
  number,
  text: `record ${number}`,
}));
const lines = records.map((record) => encodeRecords([record]));
const log = Buffer.concat(lines);
const ends = lines.map((_, position) => Buffer.concat(lines.slice(0, position + 1)).length);
/** The record that a byte belongs to. */
const recordAt = (offset: number) => ends.findIndex((end) => offset < end);

describe('a log of six records', () => {
  it('cut at any byte keeps all records before the cut', () => {
    for (let cut = 0; cut <= log.length; cut += 1) {
      const whole = ends.filter((end) => end <= cut).length;
      expect(decodeLog(log.subarray(0, cut))).toEqual({
        records: records.slice(0, whole),
        damage: [],
        torn: cut - (ends[whole - 1] ?? 0),
        last: 0,
      });
    }
  });

  it('with any bit of any byte flipped loses that record alone, and says where', () => {
    for (let offset = 0; offset < log.length; offset += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const damaged = Buffer.from(log);
        damaged.writeUInt8(log.readUInt8(offset) ^ (1 << bit), offset);
        const hit = recordAt(offset);
        const content = decodeLog(damaged);
        // Without its line feed a line runs into the next one, or is torn if it is the last.
        const isEnd = ends.includes(offset + 1);
        const lost = isEnd ? [hit, hit + 1] : [hit];
        expect(content.records).toEqual(records.filter((_, position) => !lost.includes(position)));
        const start = ends[hit - 1] ?? 0;
        const isTorn = isEnd && hit === records.length - 1;
        expect(content.damage[0]?.offset).toBe(isTorn ? undefined : start);
        const reported = content.damage.reduce((sum, { length }) => sum + length, 0);
        const bytesLost = lost.reduce((sum, position) => sum + (lines[position]?.length ?? 0), 0);
        expect(reported + content.torn).toBe(bytesLost);
      }
    }
  });

  it('says in words what is lost', () => {
    const damaged = Buffer.from(log);
    damaged.write('#', ends[1] ?? 0);
    expect(describeDamage('jobs.log', decodeLog(damaged).damage)).toEqual([
      `jobs.log is damaged at byte ${ends[1]}: a record of ${lines[2]?.length} bytes is lost, all others are kept`,
    ]);
  });
});

describe('a log of any bytes', () => {
  it('is read without an error, and no byte is unreported', () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom(
        ...lines,
        Buffer.from('\n'),
        Buffer.from('null\n'),
        Buffer.from('0123456789abcdef\t{}\n'),
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const bytes = Buffer.concat(pieces);
        const content = decodeLog(bytes);
        const kept = content.records.reduce((sum, record) => sum + encodeRecords([record]).length, 0);
        const damaged = content.damage.reduce((sum, { length }) => sum + length, 0);
        expect(kept + damaged + content.torn).toBe(bytes.length);
      }),
      { numRuns: runs(2_000, 20_000) },
    );
  });

  it('keeps records of unknown types', () => {
    const unknown = { type: 'of-tomorrow', nested: { list: [1, null, 'ä'] } };
    expect(decodeLog(encodeRecords([unknown])).records).toEqual([unknown]);
  });

  it.each([
    '[1]',
    'null',
    '"text"',
    '7',
    '{}',
    '{"type":null}',
    '{"type":1}',
    '{"types":"line"}',
    'not JSON',
  ])('does not accept %s as a record, though its checksum is right', (json) => {
    const line = Buffer.from(`${hash('sha256', json).slice(0, 16)}\t${json}\n`);
    expect(decodeLog(line)).toEqual({
      records: [],
      damage: [{ kind: 'line', offset: 0, length: line.length }],
      torn: 0,
      last: 0,
    });
  });

  it('keeps a field that looks like a line number, within a record and in its place', () => {
    const nested = { type: 'any', inner: { seq: 5, rest: 1 } };
    // More digits than are exact, so that they cannot be the number of a line.
    const first = { seq: 1_234_567_890_123_456, type: 'any' };
    expect(decodeLog(encodeRecords([nested, first])).records).toEqual([nested, first]);
    expect(decodeLog(encodeRecords([nested], 1)).records).toEqual([nested]);
  });

  it('also returns its records one by one, without damaged ones and without its own first line', () => {
    const torn = Buffer.from('cut of');
    const bytes = Buffer.concat([
      encodeLog(records.slice(0, 2), 7),
      Buffer.from('#\n'),
      ...lines.slice(2),
      torn,
    ]);
    expect([...decodeRecords(bytes)]).toEqual(records);
    expect([...decodeRecords(torn)]).toEqual([]);
  });

  it('does not accept a line with another separator', () => {
    const line = Buffer.from(encodeRecords(records.slice(0, 1)));
    line.write(' ', 16);
    expect(decodeLog(line).records).toEqual([]);
  });
});

const numbered = records.map((record, place) => encodeRecords([record], place + 1));
const known = (last: number) => ({ state: 'known', last }) as const;

describe('a log with numbered lines', () => {
  it('returns any records, and the number of the last one', () => {
    const record = fc
      .dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }))
      .map((fields) => JSON.parse(JSON.stringify({ type: 'any', ...fields, seq: undefined })))
      .filter(({ type }) => typeof type === 'string' && type !== 'log_start');
    fc.assert(
      fc.property(fc.array(record, { maxLength: 8 }), fc.integer({ min: 1, max: 1_000 }), (some, first) => {
        const count = known(first + some.length);
        const content = { records: some, damage: [], torn: 0, last: first + some.length };
        expect(decodeLog(encodeLog(some, first), count)).toEqual(content);
        expect(decodeLog(encodeRecords(some, 1), known(some.length))).toEqual({
          ...content,
          last: some.length,
        });
      }),
      { numRuns: runs(1_000, 10_000) },
    );
  });

  it('cut at any byte is damaged, unless the cut part was never counted', () => {
    const whole = Buffer.concat(numbered);
    for (let cut = 0; cut < whole.length; cut += 1) {
      const bytes = whole.subarray(0, cut);
      const { records: left, damage, torn } = decodeLog(bytes, known(records.length));
      expect(damage).toEqual([{ kind: 'missing', offset: cut - torn, length: torn }]);
      expect(decodeLog(bytes, known(left.length)).damage).toEqual([]);
    }
  });

  it('with any bit of any byte flipped is damaged', () => {
    const whole = Buffer.concat(numbered);
    for (let bit = 0; bit < 8 * whole.length; bit += 1) {
      const damaged = Buffer.from(whole);
      const offset = bit >> 3;
      damaged.writeUInt8(whole.readUInt8(offset) ^ (1 << (bit & 7)), offset);
      expect(decodeLog(damaged, known(records.length)).damage.length).toBeGreaterThan(0);
    }
  });

  it('with missing, repeated or reordered lines is damaged', () => {
    const lines = fc.shuffledSubarray([...numbered, ...numbered], { minLength: 0 });
    fc.assert(
      fc.property(lines, (some) => {
        const isWhole = Buffer.concat(some).equals(Buffer.concat(numbered));
        const { damage } = decodeLog(Buffer.concat(some), known(records.length));
        expect(damage.length === 0).toBe(isWhole);
      }),
      { numRuns: runs(2_000, 20_000) },
    );
  });

  it('may be ahead of its count, and contain unnumbered lines of earlier versions', () => {
    const [one, two, three] = numbered;
    const mixed = Buffer.concat(
      [...lines.slice(3), one, ...lines.slice(4), two, three].map((line) => line ?? log),
    );
    expect(decodeLog(mixed, known(1))).toMatchObject({ damage: [], last: 3 });
    expect(decodeLog(mixed, known(1)).records).toHaveLength(8);
  });

  it.each([
    ['is missing', { state: 'none' }],
    ['cannot be read', { state: 'unreadable' }],
  ] as const)('whose count %s is damaged, and says so', (_what, head) => {
    const { damage } = decodeLog(Buffer.concat(numbered), head);
    expect(damage).toEqual([{ kind: 'head', offset: 0, length: 0 }]);
    expect(describeDamage('journal', damage)).toEqual([
      'journal is damaged: the count of its records is lost, so the newest may be missing',
    ]);
  });

  it('that was rewritten begins with any number; such a beginning elsewhere hides no gap', () => {
    const rewritten = encodeLog(records.slice(0, 2), 40);
    expect(decodeLog(rewritten, known(42))).toMatchObject({ damage: [], last: 42 });
    const [one = log] = numbered;
    expect(decodeLog(Buffer.concat([one, rewritten]), known(42)).damage).toEqual([
      { kind: 'missing', offset: one.length, length: 0 },
    ]);
    expect(decodeLog(encodeRecords(records.slice(0, 2), 2), known(3)).damage).toEqual([
      { kind: 'missing', offset: 0, length: 0 },
    ]);
  });

  it('with a damaged line reports no gap after it for the number that the line had', () => {
    const [one = log, two = log, three = log, four = log] = numbered;
    const broken = Buffer.from(two);
    broken.write('#');
    const damaged = { kind: 'line', offset: one.length, length: two.length };
    const whole = Buffer.concat([one, broken, three]);
    expect(decodeLog(whole, known(3)).damage).toEqual([damaged]);
    expect(decodeLog(Buffer.concat([one, broken, four]), known(4)).damage).toEqual([damaged]);
    // At the end nobody knows how many lines the damaged one stands for.
    expect(decodeLog(Buffer.concat([one, broken]), known(3)).damage).toEqual([damaged]);
    // After a line with a number the order is known again.
    expect(decodeLog(whole, known(5)).damage).toEqual([
      damaged,
      { kind: 'missing', offset: whole.length, length: 0 },
    ]);
    // A number that has been there is not a later line.
    expect(decodeLog(Buffer.concat([one, broken, one]), known(1)).damage).toEqual([
      damaged,
      { kind: 'missing', offset: one.length + two.length, length: 0 },
    ]);
  });

  it('says in words that lines are missing', () => {
    const [one = log, , three = log] = numbered;
    const { damage } = decodeLog(Buffer.concat([one, three]), known(3));
    expect(describeDamage('journal', damage)).toEqual([
      `journal is damaged at byte ${one.length}: records are missing there, all others are kept`,
    ]);
  });
});

describe('a log of an earlier version', () => {
  const path = join(import.meta.dirname, '..', 'fixtures', 'journal-before-counts');
  const before = readFileSync(path);

  it('is read as it was written', () => {
    const { records: found, damage, torn, last } = decodeLog(before, { state: 'none' });
    expect({ count: found.length, damage, torn, last }).toEqual({ count: 9, damage: [], torn: 0, last: 0 });
    expect(found[0]).toEqual({ type: 'batch_name', batch: '0123456789' });
  });

  it('that ends within a line is damaged, because a cut line looks like an unfinished one', () => {
    const cut = before.subarray(0, before.length - 1);
    const start = cut.lastIndexOf('\n') + 1;
    expect(decodeLog(cut, { state: 'none' }).damage).toEqual([
      { kind: 'line', offset: start, length: cut.length - start },
    ]);
  });
});
