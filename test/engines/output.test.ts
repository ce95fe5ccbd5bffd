import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collect, keepLastLines, readLines } from '../../src/engines/output.ts';

test('lines are the same however the stream is cut, also within a character', async () => {
  const text = 'über\nzwei\r\n\ndrei';
  const bytes = Buffer.from(text);
  const cuts = fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(cuts, async (places) => {
      const ends = [0, ...places.toSorted((a, b) => a - b), bytes.length];
      const chunks = ends.slice(1).map((end, at) => bytes.subarray(ends[at], end));
      const stream = Readable.from(chunks, { objectMode: true });
      const lines: string[] = [];
      readLines(stream, (line) => lines.push(line));
      await finished(stream);
      expect(lines).toEqual(['über', 'zwei', 'drei']);
    }),
  );
});

test('a line without end is passed on in pieces', async () => {
  const stream = Readable.from([Buffer.alloc(1_100_000, 'x'), Buffer.from('y')], { objectMode: true });
  const lengths: number[] = [];
  readLines(stream, (line) => lengths.push(line.length));
  await finished(stream);
  expect(lengths).toEqual([1_100_000, 1]);
});

test('what is beyond the cap is dropped and said once', async () => {
  const stream = Readable.from([Buffer.from('abc'), Buffer.from('de'), Buffer.from('f')], {
    objectMode: true,
  });
  let overflows = 0;
  const collected = collect(stream, 4, () => {
    overflows += 1;
  });
  await finished(stream);
  expect(collected().toString()).toBe('abc');
  expect(overflows).toBe(1);
});

test('the last lines are kept, none of them long', () => {
  const kept = keepLastLines(2);
  for (const line of ['one', 'two', 'x'.repeat(10_000)]) kept.add(line);
  expect(kept.text()).toBe(`two\n${'x'.repeat(500)}`);
});
