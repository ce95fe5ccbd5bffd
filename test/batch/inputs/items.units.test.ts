import { describe, expect, it } from 'vitest';
import type { JobInput } from '../../../src/batch/input.ts';
import { unitsOf } from '../../../src/batch/inputs/items.ts';

const named = { label: 'a', stem: 'a', name: 'a' };
const video = (seconds: number | null): JobInput => ({
  ...named,
  type: 'file',
  path: '/a',
  bytes: 1,
  mtimeMs: 0,
  contentType: 'video/mp4',
  seconds,
  preparation: null,
});
const lines = (...texts: string[]): JobInput => ({
  ...named,
  type: 'lines',
  sha256: '',
  file: null,
  parts: null,
  lines: texts.map((text, at) => ({ index: at + 1, start_ms: at, end_ms: at + 1, text })),
});

describe('the metered quantity of an input', () => {
  it.each([
    [0.1, 1],
    [60.0004, 1],
    [60.001, 2],
  ])('is for a video of %d s %d started minutes', (seconds, quantity) => {
    expect(unitsOf('auto_localization', video(seconds))).toEqual({ unit: 'started_minute', quantity });
  });

  it('is for a translation the number of lines', () => {
    expect(unitsOf('subtitle_translation', lines('a', 'b'))).toEqual({ unit: 'line', quantity: 2 });
  });

  it.each([
    [1000, 1],
    [1001, 2],
  ])('is for a dub of %d characters beyond ASCII %d started thousands', (count, quantity) => {
    expect(unitsOf('dubbing', lines('😀'.repeat(count)))).toEqual({
      unit: 'started_thousand_characters',
      quantity,
    });
  });

  it('is unknown if only the service can measure it', () => {
    expect(unitsOf('audio_separation', video(null))).toBeNull();
    expect(unitsOf('dubbing', { ...named, type: 'upload', id: 'upl_1' })).toBeNull();
  });

  it('is rounded up for each part, except for lines', () => {
    const parts = ['a'.repeat(1001), 'b'].map((text) => ({
      offsetMs: 0,
      lines: [{ index: 1, start_ms: 0, end_ms: 1, text }],
    }));
    const split = { ...lines('a', 'b'), parts } as JobInput;
    expect(unitsOf('dubbing', split)?.quantity).toBe(3);
    expect(unitsOf('subtitle_translation', split)?.quantity).toBe(2);
    const preparation = { conversion: null, reasons: [], track: 1, parts: 2, minutes: 18 };
    const long = { ...video(965), preparation } as JobInput;
    expect(unitsOf('subtitle_recognition', long)?.quantity).toBe(18);
  });
});
