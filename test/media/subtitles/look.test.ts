/** Looks of burned subtitles: their files, and in rendered pixels where the text and its box are. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

/** A grey picture with a cue: where it differs from grey, and its pixels. */
function draw(look: Look, size: Size, text = TEXT) {
  const folder = makeFolder();
  const cue = { index: 1, start_ms: 0, end_ms: 1000, text };
  const burning = { language: 'en', white: 255, pixelAspect: 1, look };
  writeFileSync(join(folder, 'look.ass'), formatAss([cue], size, burning));
  const grey = `color=c=0x808080:s=${size.width}x${size.height}:d=0.1,format=rgb24`;
  const args = ['-v', 'error', '-f', 'lavfi', '-i', grey, '-vf', 'ass=look.ass', '-frames:v', '1'];
  const bytes = execFileSync('ffmpeg', [...args, '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'], {
    cwd: folder,
    maxBuffer: 2 ** 24,
  });
  const pixel = (x: number, y: number): Pixel => {
    const at = (y * size.width + x) * 3;
    return [bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0];
  };
  let [top, bottom, left, right] = [size.height, 0, size.width, 0];
  for (const [at, value] of bytes.entries()) {
    if (Math.abs(value - 128) <= 10) continue;
    const [x, y] = [Math.floor(at / 3) % size.width, Math.floor(at / 3 / size.width)];
    [top, bottom, left, right] = [
      Math.min(top, y),
      Math.max(bottom, y),
      Math.min(left, x),
      Math.max(right, x),
    ];
  }
  return { pixel, top, bottom, left, right };
}

test('every look leaves 20 % free below and 10 % at the sides in a picture for phones', () => {
  for (const name of ['plain', 'box', 'vertical']) {
    const { top, bottom, left, right } = draw(builtInLook(name) ?? {}, PHONE);
    expect(bottom, name).toBeLessThan(PHONE.height * 0.8);
    expect(top, name).toBeGreaterThan(PHONE.height * 0.6);
    expect(left, name).toBeGreaterThanOrEqual(PHONE.width * 0.1);
    expect(right, name).toBeLessThan(PHONE.width * 0.9);
  }
});

test('in a wide picture only vertical leaves 20 % free below', () => {
  const free = (name: string) => 1 - draw(builtInLook(name) ?? {}, LANDSCAPE).bottom / LANDSCAPE.height;
  for (const name of ['plain', 'box']) {
    expect(free(name), name).toBeGreaterThan(0.045);
    expect(free(name), name).toBeLessThan(0.1);
  }
  expect(free('vertical')).toBeGreaterThanOrEqual(0.199);
});

test('a box is one rectangle of one shade behind all rows', () => {
  const { pixel, top, bottom, left, right } = draw({ box: '#0000FF80', outline: 0 }, LANDSCAPE);
  // Half of grey, half of blue.
  const shade: Pixel = [64, 64, 191];
  const edges = [
    ...[left, right].flatMap((x) =>
      [top, Math.round((top + bottom) / 2), bottom].map((y) => [x, y] as const),
    ),
    // Between the two rows of text, where boxes of rows would overlap.
    [left + 2, Math.round((top + bottom) / 2)] as const,
  ];
  for (const [x, y] of edges)
    for (const [channel, value] of pixel(x, y).entries())
      expect(Math.abs(value - (shade[channel] ?? 0)), `${x},${y}`).toBeLessThan(4);
});

test('colours, size and position are those of the look, in per cent of each picture', () => {
  for (const size of [LANDSCAPE, { width: 1280, height: 720 }, PHONE]) {
    const look = { color: '#FF0000', outline: 0, size: 10, position: 'top', margin: 10 } as const;
    const { pixel, top, bottom, left, right } = draw(look, size, 'HXH');
    const short = Math.min(size.width, size.height);
    expect(top).toBeGreaterThanOrEqual(size.height * 0.1);
    // Capital letters are about half as high as the row.
    expect((bottom - top) / short).toBeGreaterThan(0.04);
    expect((bottom - top) / short).toBeLessThan(0.08);
    const middle = Math.round((top + bottom) / 2);
    const reds = Array.from({ length: right - left }, (_, x) => pixel(left + x, middle));
    expect(reds.some(([red, green, blue]) => red > 220 && green < 30 && blue < 30)).toBe(true);
  }
  const { top, bottom } = draw({ position: 'middle' }, LANDSCAPE);
  expect(Math.abs((top + bottom) / 2 - LANDSCAPE.height / 2)).toBeLessThan(10);
});

test('rows are fewer in smaller letters, and all of the text stays inside the picture', () => {
  const height = (size: number) => {
    const { top, bottom, left, right } = draw({ size, bold: true }, PHONE, `${TEXT} ${TEXT}`);
    expect(left).toBeGreaterThan(0);
    expect(right).toBeLessThan(PHONE.width - 1);
    expect(top).toBeGreaterThanOrEqual(0);
    return bottom - top;
  };
  expect(height(4)).toBeLessThan(height(7));
  expect(height(15)).toBeGreaterThan(height(7));
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
  ['{"position":"left"}', /^position must be bottom, middle or top/],
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
