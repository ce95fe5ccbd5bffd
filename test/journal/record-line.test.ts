import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeLog, describeDamage, encodeRecords } from '../../src/journal/record-line.ts';

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

describe('a log of anything', () => {
  it('is read without an error, and no byte goes unreported', () => {
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
      { numRuns: 2_000 },
    );
  });

  it('keeps records of types that nobody here knows', () => {
    const unknown = { type: 'of-tomorrow', nested: { list: [1, null, 'ä'] } };
    expect(decodeLog(encodeRecords([unknown])).records).toEqual([unknown]);
  });

  it('does not take a line for a record that has a right checksum and is none', () => {
    const { records: found, damage } = decodeLog(encodeRecords([JSON.parse('[1]')]));
    expect(found).toEqual([]);
    expect(damage).toHaveLength(1);
  });
});
