/** Looks of burned subtitles: their files, and in rendered pixels where the text and its box are. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { requireFamily } from '../../../src/media/export/fonts.ts';
import { builtInLook, type Look, parseLook } from '../../../src/media/subtitles/look.ts';
import { formatAss } from '../../../src/media/subtitles/write.ts';
import { createWork, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

const LANDSCAPE = { width: 640, height: 360 };
const PHONE = { width: 360, height: 640 };
const TEXT = 'The quick brown fox jumps over the lazy dog, and the dog does not mind at all.';

type Size = typeof LANDSCAPE;
type Pixel = readonly [red: number, green: number, blue: number];

interface Drawing {
  readonly look: Look;
  readonly size: Size;
  readonly text?: string;
}

/** Grey pictures with a cue, all by one start of ffmpeg: where each differs from grey, and its pixels. */
function draw(drawings: readonly Drawing[]): ReturnType<typeof measure>[] {
  const folder = makeFolder();
  const graphs = drawings.map(({ look, size, text = TEXT }, at) => {
    const cue = { index: 1, start_ms: 0, end_ms: 1000, text };
    const burning = { language: 'en', white: 255, pixelAspect: 1, look };
    writeFileSync(join(folder, `${at}.ass`), formatAss([cue], size, burning));
    const grey = `color=c=0x808080:s=${size.width}x${size.height}:d=0.1,format=rgb24`;
    return `${grey},ass=${at}.ass[p${at}]`;
  });
  const outputs = drawings.flatMap((_, at) => [
    ...['-map', `[p${at}]`, '-frames:v', '1', '-f', 'rawvideo', '-pix_fmt', 'rgb24', `${at}.rgb`],
  ]);
  execFileSync('ffmpeg', ['-v', 'error', '-filter_complex', graphs.join(';'), ...outputs], { cwd: folder });
  return drawings.map(({ size }, at) => measure(readFileSync(join(folder, `${at}.rgb`)), size));
}

function measure(bytes: Buffer, size: Size) {
  const pixel = (x: number, y: number): Pixel => {
    const at = (y * size.width + x) * 3;
    return [bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0];
  };
  let [top, bottom, left, right] = [size.height, 0, size.width, 0];
  for (let at = 0; at < bytes.length; at += 1) {
    if (Math.abs((bytes[at] ?? 0) - 128) <= 10) continue;
    const [x, y] = [Math.floor(at / 3) % size.width, Math.floor(at / 3 / size.width)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
    [left, right] = [Math.min(left, x), Math.max(right, x)];
  }
  return { pixel, top, bottom, left, right };
}

const RED = { color: '#FF0000', outline: 0, size: 10, position: 'top', margin: 10 } as const;
const DRAWINGS = {
  phone: { look: builtInLook('box') ?? {}, size: PHONE },
  vertical: { look: builtInLook('vertical') ?? {}, size: LANDSCAPE },
  middle: { look: { position: 'middle' }, size: LANDSCAPE },
  blue: { look: { box: '#0000FF80', outline: 0 }, size: LANDSCAPE },
  ...{ wide: { look: RED, size: LANDSCAPE, text: 'HXH' }, high: { look: RED, size: PHONE, text: 'HXH' } },
} satisfies Record<string, Drawing>;

describe('a rendered look', () => {
  let drawn: ReturnType<typeof measure>[] | undefined;
  /** The first test draws them all. */
  const find = (name: keyof typeof DRAWINGS) => {
    drawn ??= draw(Object.values(DRAWINGS));
    return drawn[Object.keys(DRAWINGS).indexOf(name)] ?? expect.fail();
  };

  test('leaves 20 % free below and 10 % at the sides in a picture for phones, and vertical does so in a wide one', () => {
    const { top, bottom, left, right } = find('phone');
    expect(bottom).toBeLessThan(PHONE.height * 0.8);
    expect(top).toBeGreaterThan(PHONE.height * 0.6);
    expect(left).toBeGreaterThanOrEqual(PHONE.width * 0.1);
    expect(right).toBeLessThan(PHONE.width * 0.9);
    expect(1 - find('vertical').bottom / LANDSCAPE.height).toBeGreaterThanOrEqual(0.199);
    expect(Math.abs(find('middle').top + find('middle').bottom - LANDSCAPE.height)).toBeLessThan(20);
  });

  test('has a box that is one rectangle of one shade behind all rows', () => {
    const { pixel, top, bottom, left, right } = find('blue');
    // Half of grey, half of blue.
    const shade: Pixel = [64, 64, 191];
    const middle = Math.round((top + bottom) / 2);
    const edges = [
      ...[left, right].flatMap((x) => [top, middle, bottom].map((y) => [x, y] as const)),
      // Between the two rows of text, where boxes of rows would overlap.
      [left + 2, middle] as const,
    ];
    for (const [x, y] of edges)
      for (const [channel, value] of pixel(x, y).entries())
        expect(Math.abs(value - (shade[channel] ?? 0)), `${x},${y}`).toBeLessThan(4);
  });

  test.each(['wide', 'high'] as const)(
    'has its colour, size and place in per cent of a %s picture',
    (name) => {
      const { pixel, top, bottom, left, right } = find(name);
      const { size } = DRAWINGS[name];
      const short = Math.min(size.width, size.height);
      expect(top).toBeGreaterThanOrEqual(size.height * 0.1);
      // Capital letters are about half as high as the row.
      expect((bottom - top) / short).toBeGreaterThan(0.04);
      expect((bottom - top) / short).toBeLessThan(0.08);
      const middle = Math.round((top + bottom) / 2);
      const reds = Array.from({ length: right - left }, (_, x) => pixel(left + x, middle));
      expect(reds.some(([red, green, blue]) => red > 220 && green < 30 && blue < 30)).toBe(true);
    },
  );
});

test('italics in a bold look stay bold', () => {
  const ass = (look: Look) =>
    formatAss([{ index: 1, start_ms: 0, end_ms: 1000, text: 'a <i>b</i> c' }], LANDSCAPE, {
      ...{ language: 'en', white: 255, pixelAspect: 1, look },
    });
  expect(ass({ bold: true })).toContain('a {\\b\\i0\\u0\\s0\\c\\i1}b {\\b\\i0\\u0\\s0\\c}c');
});

test('a file changes a built-in look', () => {
  expect(parseLook('{"extends":"box","size":8,"font":"DejaVu Sans"}')).toEqual({
    ...{ box: '#000000B3', outline: 0, size: 8, font: 'DejaVu Sans' },
  });
});

test.each([
  ['{', /^it is not valid JSON/],
  ['[]', /must be an object/],
  ['{"colour":"#FFFFFF"}', /colour|unknown field/],
  ['{"color":"red"}', /^color must be #RRGGBB/],
  ['{"size":"5"}', /^size must be a number/],
  ['{"size":99}', /^size must be at most 30/],
  ['{"font":"A,B"}', /^font must be the name of a font family/],
  ['{"extends":"netflix"}', /^extends must be one of plain, box, vertical/],
])('%s is no look', (text, why) => {
  expect(parseLook(text)).toMatch(why);
});

test('a font that is not installed is refused by its name', async () => {
  const work = createWork(makeFolder());
  await requireFamily(programs, 'sans-serif', work);
  const known =
    execFileSync('fc-list', [':', 'family'], { encoding: 'utf8' }).split('\n')[0]?.split(',')[0] ?? '';
  await requireFamily(programs, known, work);
  await expect(requireFamily(programs, 'Nosuch Grotesk', work)).rejects.toThrow('"Nosuch Grotesk"');
});
