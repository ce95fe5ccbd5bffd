import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinSubtitles, splitSubtitle } from '../../../src/media/split/subtitle-parts.ts';

/** Cues of random length with random gaps, in order. */
const subtitles = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 1, max: 5000 })), {
    minLength: 1,
    maxLength: 300,
  })
  .map((pairs) => {
    let at = 0;
    return pairs.map(([gap, lasts], position) => {
      const start_ms = at + gap;
      at = start_ms + lasts;
      return { index: position + 1, start_ms, end_ms: at, text: `Cue ${position}` };
    });
  });

test('parts keep the limit, begin at 0 or later, and can be joined to the original', () => {
  fc.assert(
    fc.property(subtitles, fc.integer({ min: 2, max: 50 }), (lines, most) => {
      const parts = splitSubtitle(lines, most);
      expect(parts).toHaveLength(Math.ceil(lines.length / most));
      for (const { lines: own } of parts) {
        expect(own.length).toBeGreaterThan(0);
        expect(own.length).toBeLessThanOrEqual(most);
        expect(own[0]?.index).toBe(1);
        expect(own[0]?.start_ms).toBeGreaterThanOrEqual(0);
      }
      const offsets = parts.map(({ offsetMs }) => offsetMs);
      expect(
        joinSubtitles(
          parts.map((part) => part.lines),
          offsets,
        ),
      ).toEqual(lines);
    }),
  );
});

test('parts end at the longest gap near their equal length', () => {
  const lines = Array.from({ length: 100 }, (_, at) => {
    const start_ms = at * 2000 + (at >= 49 ? 9000 : 0);
    return { index: at + 1, start_ms, end_ms: start_ms + 1500, text: 'x' };
  });
  const parts = splitSubtitle(lines, 60);
  expect(parts.map((part) => part.lines.length)).toEqual([49, 51]);
  expect(parts[1]?.offsetMs).toBe((97_500 + 107_000) / 2);
});
