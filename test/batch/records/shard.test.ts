import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { isInShard, readShard, shardOf, writeShard } from '../../../src/batch/records/shard.ts';

const names = fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1 }), { maxLength: 50 });
const counts = fc.integer({ min: 1, max: 40 });

const shardsOf = (count: number) =>
  Array.from({ length: count }, (_, place) => ({ index: place + 1, count }));

describe('the shards of a batch', () => {
  it('have each input in exactly one of them', () => {
    fc.assert(
      fc.property(names, counts, (all, count) => {
        for (const name of all)
          expect(shardsOf(count).filter((shard) => isInShard(name, shard))).toHaveLength(1);
      }),
    );
  });

  it('keep an input when others come, go or change their order', () => {
    fc.assert(
      fc.property(names, names, counts, (some, more, count) => {
        const assign = (all: readonly string[]) => new Map(all.map((name) => [name, shardOf(name, count)]));
        const before = assign(some);
        const after = assign([...more, ...some.toReversed()]);
        for (const [name, shard] of before) expect(after.get(name)).toBe(shard);
      }),
    );
  });

  it('do not depend on the path separator of the platform, nor on how accents are encoded', () => {
    const parts = fc.array(fc.constantFrom('Übung', 'lección', '한국어', 'a', 'b.mp4'), { minLength: 1 });
    fc.assert(
      fc.property(parts, counts, (words, count) => {
        const name = posix.join(...words);
        expect(shardOf(name.normalize('NFD'), count)).toBe(shardOf(name.normalize('NFC'), count));
        expect(shardOf(words.join('\\'), count)).toBe(shardOf(words.join('/'), count));
      }),
    );
  });

  it('are of about the same size', () => {
    const all = Array.from({ length: 3_000 }, (_, place) => `week ${place % 30}/lesson ${place}.mp4`);
    const sizes = shardsOf(10).map((shard) => all.filter((name) => isInShard(name, shard)).length);
    // Four standard deviations of a binomial distribution around 300.
    for (const size of sizes) expect(Math.abs(size - 300)).toBeLessThan(4 * Math.sqrt(300 * 0.9));
  });

  it('have the sample of a video where the video is', () => {
    for (const name of ['talk.mp4', 'week 1/lesson 2.mp4', 'a.mp4', 'b.mp4'])
      expect(shardOf(`${name} (sample)`, 1000)).toBe(shardOf(name, 1000));
  });

  it('stay the same in later versions, since the journals of a folder depend on them', () => {
    expect(['talk.mp4', 'week 1/lesson 2.mp4', 'lección.mp4'].map((name) => shardOf(name, 7))).toEqual([
      1, 4, 3,
    ]);
  });
});

test('--shard is read and written as i/n', () => {
  fc.assert(
    fc.property(counts, counts, (one, other) => {
      const shard = { index: Math.min(one, other), count: Math.max(one, other) };
      expect(readShard(writeShard(shard))).toEqual(shard);
    }),
  );
  expect(readShard(undefined)).toBeUndefined();
});

test.each(['0/3', '4/3', 'a/b', '1/3/5', '1.5/3', '1', '', '1/1001', '１/３'])(
  'a shard that does not exist is refused: %j',
  (written) => {
    const read = () => readShard(written);
    expect(read).toThrow(Failure);
    expect(read).toThrow(
      `--shard must be i/n, such as 2/3 for the second of three, not ${JSON.stringify(written)}`,
    );
  },
);
