/** Subtitles in two languages: pairs by time, and what is written is told apart again. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinSource, pairSource, splitSource } from '../../../src/media/subtitles/bilingual.ts';
import { scanText } from '../../../src/media/subtitles/read-subtitle.ts';
import { writeSubtitle } from '../../../src/media/subtitles/write.ts';
import type { PairedLine } from '../../../src/media/work.ts';
import { SUBTITLE_FORMATS, type SubtitleLine } from '../../../src/protocol/subtitle-line.ts';

/** `0-2 one`; times in seconds. */
function lines(...written: string[]): SubtitleLine[] {
  return written.map((each, at) => {
    const [, from, to, text = ''] = /^([\d.]+)-([\d.]+) (.*)$/s.exec(each) ?? [];
    return { index: at + 1, start_ms: Number(from) * 1000, end_ms: Number(to) * 1000, text };
  });
}

const pair = (target: SubtitleLine[], source: SubtitleLine[]) =>
  pairSource(target, source).map((line) => `${line.text}: ${line.source ?? '-'}`);

const SOURCE = lines('0-2 one', '2-4 two', '4-6 three');

test.each([
  ['cues of the same times, also two at once', lines('0-2 uno', '0-2 dos'), ['uno: one', 'dos: two']],
  ['cues that were moved a little', lines('0.2-2.5 uno', '2.5-4.4 dos'), ['uno: one', 'dos: two']],
  ['joined cues', lines('0-4 uno dos', '4-6 tres'), ['uno dos: one\ntwo', 'tres: three']],
  ['a split cue', lines('0-1 un', '1-2 o', '2-4 dos'), ['un: one', 'o: one', 'dos: two']],
  ['cues of another video', lines('20-22 uno', '22-24 dos', '24-26 tres'), ['uno: -', 'dos: -', 'tres: -']],
] as const)('%s are paired with their source', (name, target, expected) => {
  const source = name.includes('at once') ? lines('0-2 one', '0-2 two') : SOURCE;
  expect(pair([...target], source)).toEqual(expected);
});

test('markup of the source is left out, and a source of only markup is none', () => {
  expect(pair(lines('0-2 uno'), lines('0-2 <b>one</b>\n{\\an8}two'))).toEqual(['uno: one\ntwo']);
  expect(pair(lines('0-2 uno'), lines('0-2 <i></i>'))).toEqual(['uno: -']);
});

const cues = fc
  .array(fc.tuple(fc.nat(400), fc.integer({ min: 1, max: 80 })), { maxLength: 40 })
  .map((times) =>
    times
      .toSorted(([left], [right]) => left - right)
      .map(([start, length], at) => ({
        ...{ index: at + 1, start_ms: start * 100, end_ms: (start + length) * 100, text: `cue ${at};` },
      })),
  );

const isTogether = (one: SubtitleLine, other: SubtitleLine) =>
  Math.min(one.end_ms, other.end_ms) > Math.max(one.start_ms, other.start_ms);

test('pairs share time, a cue that shares time with the source has one, and the translation stays as it is', () => {
  fc.assert(
    fc.property(cues, cues, (target, source) => {
      const paired = pairSource(target, source);
      expect(paired.map(({ source: _, ...line }) => line)).toEqual(target);
      const shown = (line: PairedLine) =>
        source.filter(({ text }) => line.source?.split('\n').includes(text) === true);
      for (const line of paired) {
        expect(shown(line).every((cue) => isTogether(line, cue))).toBe(true);
        expect(shown(line).length > 0).toBe(source.some((cue) => isTogether(line, cue)));
      }
      expect(pairSource(source, source).map((line) => line.source)).toEqual(source.map(({ text }) => text));
    }),
  );
});

test.each(
  SUBTITLE_FORMATS.flatMap((format) => (['above', 'below'] as const).map((place) => ({ format, place }))),
)('$format with the source $place is told apart into both', ({ format, place }) => {
  const target = lines('0-2 Uno.\nUn <i>poco</i> más.', '2-4 <i>Dos.</i>', '4-6 <i>Tres.</i>', '7-8 Nuevo.');
  const source = lines('0-2 One.', '2-4 Two\nrows.', '4-6 Three.');
  const paired = pairSource(target, source);
  const text = writeSubtitle(paired, format, { place, language: 'en' });
  const split = splitSource(scanText(Buffer.from(text), `talk.${format}`).cues);
  expect(split.lines.map((line) => line.text)).toEqual(target.map((line) => line.text));
  expect(split.source.map((line) => line.text)).toEqual(source.map((line) => line.text));
  expect(split.lines.map(({ start_ms }) => start_ms)).toEqual(target.map(({ start_ms }) => start_ms));
});

test.each([
  ['above', '<i>one</i>\nuno'],
  ['below', 'uno\n<i>one</i>'],
] as const)('the source stands %s', (place, text) => {
  const [joined] = joinSource(pairSource(lines('0-2 uno'), SOURCE), place);
  expect(joined).toEqual({ index: 1, start_ms: 0, end_ms: 2000, text });
});
