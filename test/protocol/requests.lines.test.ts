import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/protocol/limits.ts';
import { checkJobRequest } from '../../src/protocol/requests.ts';
import { formatSrt, parseSrt } from '../../src/protocol/srt.ts';
import { anyText } from './arbitraries.ts';

const LINE = { index: 1, start_ms: 0, end_ms: 1_000, text: 'Hello' };
const LAST_MS = 3_599_999_999;

function faults(lines: unknown): string[] {
  const checked = checkJobRequest('dubbing', { subtitle: { type: 'lines', lines }, target_language: 'es' });
  return checked.ok ? [] : checked.errors.map(({ pointer, detail }) => `${pointer}: ${detail}`);
}

const fault = (change: Record<string, unknown>) => faults([{ ...LINE, ...change }]);

describe('structured lines', () => {
  it('number at least one and at most 10,000', () => {
    const many = (count: number) => Array.from({ length: count }, () => LINE);
    expect(faults([])).toEqual(['/subtitle/lines: at least 1 line']);
    expect(faults(many(1))).toEqual([]);
    expect(faults(many(10_000))).toEqual([]);
    expect(faults(many(10_001))).toEqual(['/subtitle/lines: at most 10000 lines']);
    expect(faults({ 0: LINE })[0]).toMatch(/^\/subtitle\/lines: /);
    expect(faults(undefined)).toEqual(['/subtitle/lines: is required']);
  });

  it.each([
    [{ index: 1 }],
    [{ index: 77 }],
    [{ start_ms: 0, end_ms: 1 }],
    [{ start_ms: LAST_MS - 1, end_ms: LAST_MS }],
    [{ text: 'two\nrows' }],
  ])('may have %j', (change) => {
    expect(fault(change)).toEqual([]);
  });

  it.each([
    [{ index: 0 }, 'index: starts at 1'],
    [{ index: 1.5 }, 'index: must be a whole number'],
    [{ index: '1' }, 'index: Invalid type'],
    [{ start_ms: -1 }, 'start_ms: must not be negative'],
    [{ start_ms: 0.5 }, 'start_ms: must be a whole number'],
    [{ start_ms: Number.NaN }, 'start_ms: '],
    [{ end_ms: 2 ** 53 }, 'end_ms: must be '],
    [{ end_ms: LAST_MS + 1 }, 'end_ms: must be under 1,000 hours'],
    [{ text: '' }, 'text: must not be empty'],
    [{ text: ' \n\t' }, 'text: must not be empty'],
    [{ text: null }, 'text: Invalid type'],
    [{ speaker: 'a' }, 'speaker: there is no such field'],
    [{ text: undefined }, 'text: '],
  ])('may not have %j', (change, expected) => {
    const found = fault(change);
    expect(found.length).toBeGreaterThan(0);
    for (const each of found) expect(each).toContain(`/subtitle/lines/0/${expected}`);
  });

  it.each([
    [5, 5],
    [6, 5],
  ])('may not go from %i to %i ms', (start_ms, end_ms) => {
    expect(fault({ start_ms, end_ms })).toEqual(['/subtitle/lines/0: start_ms must be before end_ms']);
  });

  it('are counted before any of them is checked', () => {
    const untouchable = new Proxy(LINE, {
      get: () => {
        throw new Error('it was looked at');
      },
    });
    const many = Array.from({ length: 10_001 }, () => untouchable);
    expect(() => faults(many.slice(1))).toThrow('it was looked at');
    expect(faults(many)).toEqual(['/subtitle/lines: at most 10000 lines']);
  });

  it('that are wrong in thousands are answered with the first hundred', () => {
    const wrong = Array.from({ length: 10_000 }, () => ({ ...LINE, text: '' }));
    const found = faults(wrong);
    expect(found).toHaveLength(100);
    expect(found.at(-1)).toBe('/subtitle/lines/99/text: must not be empty');
  });

  it('may be 5,000 characters long', () => {
    const longest = '😀'.repeat(LIMITS.lineCharacters);
    expect(fault({ text: longest })).toEqual([]);
    expect(fault({ text: `${longest}x` })).toEqual(['/subtitle/lines/0/text: at most 5000 characters']);
  });

  it('are named by their index if they are invalid', () => {
    expect(faults([LINE, LINE, { ...LINE, text: '' }])).toEqual([
      '/subtitle/lines/2/text: must not be empty',
    ]);
    const { text: _text, ...textless } = LINE;
    expect(faults([LINE, textless])).toEqual(['/subtitle/lines/1/text: is required']);
  });

  it('that are accepted can be written as SRT and read again', () => {
    const line = fc
      .record({ start_ms: fc.nat(LAST_MS), end_ms: fc.nat(LAST_MS + 1), text: anyText({ maxLength: 20 }) })
      .map((times) => ({ index: 1, ...times }));
    fc.assert(
      fc.property(line, (any) => {
        fc.pre(faults([any]).length === 0);
        const [read] = parseSrt(formatSrt([any]));
        expect([read?.start_ms, read?.end_ms]).toEqual([any.start_ms, any.end_ms]);
      }),
    );
  });
});
