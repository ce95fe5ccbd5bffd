import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/protocol/limits.ts';
import { decodeSrt, formatSrt, normalizeCueText, parseSrt, SubtitleError } from '../../src/protocol/srt.ts';
import type { SubtitleLine } from '../../src/protocol/subtitle-line.ts';
import { anyText, runs } from './arbitraries.ts';

/** Text that SRT can carry unchanged, built so and not by the code under test. */
const row = anyText({ maxLength: 30 })
  .map((text) => text.replaceAll(/[\r\n]/g, ' ').trim())
  .filter((text) => text !== '' && !text.includes('-->'));
const text = fc.array(row, { minLength: 1, maxLength: 4 }).map((rows) => rows.join('\n'));

/** Lines in any order, overlapping or not, up to the last time that three digits of hours can write. */
const lines: fc.Arbitrary<SubtitleLine[]> = fc
  .array(
    fc.record({
      start_ms: fc.nat(LIMITS.lineEndMs - 1),
      length: fc.nat(600_000),
      text,
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((cues) =>
    cues.map(({ start_ms, length, text }, position) => ({
      index: position + 1,
      start_ms,
      end_ms: Math.min(start_ms + 1 + length, LIMITS.lineEndMs),
      text,
    })),
  );

/** Pieces of SRT in an order that nobody intended. */
const debris = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '1',
        '2',
        '\n',
        '\n\n',
        '\r',
        '\r\n',
        ' --> ',
        '-->',
        '00:00:01,000',
        '00:00:02.5',
        '\uFEFF',
      ),
      fc.constantFrom(
        '00:00:01,000 --> 00:00:02,000\n',
        '999:99:99,999',
        '\0',
        '\u2028',
        '😀',
        '\ud83d',
        'x',
      ),
      anyText({ maxLength: 4 }),
    ),
    { maxLength: 20 },
  )
  .map((pieces) => pieces.join(''));

/** What reading returns, or null if it was refused; any other error is thrown. */
function attempt(read: () => SubtitleLine[]): SubtitleLine[] | null {
  try {
    return read();
  } catch (error) {
    expect(error).toBeInstanceOf(SubtitleError);
    return null;
  }
}

/** The 100,000 runs of the long tests take four seconds, on a busy machine several times that. */
const PATIENCE = { timeout: 300_000 };

describe('SRT', PATIENCE, () => {
  it('is unchanged after writing and reading', () => {
    fc.assert(
      fc.property(lines, (original) => {
        expect(parseSrt(formatSrt(original))).toEqual(original);
        expect(decodeSrt(Buffer.from(`\uFEFF${formatSrt(original)}`))).toEqual(original);
      }),
      { numRuns: runs(150, 10_000) },
    );
  });

  it('is normalized to what a cue can contain, whatever the text', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 40 }), (wild) => {
        const held = normalizeCueText(wild);
        const [read] =
          attempt(() => parseSrt(formatSrt([{ index: 1, start_ms: 0, end_ms: 1, text: wild }]))) ?? [];
        expect(read?.text ?? '').toBe(held);
        expect(normalizeCueText(held)).toBe(held);
      }),
      { numRuns: runs(150, 10_000) },
    );
  });

  it('is read or refused with a reason, whatever the text', () => {
    fc.assert(
      fc.property(debris, (hostile) => {
        const read = attempt(() => parseSrt(hostile)) ?? [];
        for (const [position, { index, start_ms, end_ms, text }] of read.entries()) {
          expect(index).toBe(position + 1);
          expect(start_ms).toBeLessThan(end_ms);
          expect(text).toBe(normalizeCueText(text));
          expect(text).not.toBe('');
        }
      }),
      { numRuns: runs(300, 100_000) },
    );
  });

  it('is read or refused with a reason, whatever the bytes', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      debris.map((hostile) => new Uint8Array(Buffer.from(hostile))),
    );
    let refused = 0;
    fc.assert(
      fc.property(bytes, (hostile) => {
        if (attempt(() => decodeSrt(hostile)) === null) refused += 1;
      }),
      { numRuns: runs(300, 100_000) },
    );
    expect(refused).toBeGreaterThan(0);
  });
});
