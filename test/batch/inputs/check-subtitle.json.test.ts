import { expect, it } from 'vitest';
import { looksLikeJson, parseJsonLines } from '../../../src/batch/inputs/check-subtitle.ts';

const LINE = { index: 1, start_ms: 0, end_ms: 10, text: 'Hi' };
const NEXT = { index: 2, start_ms: 10, end_ms: 20, text: 'there' };

it.each([
  ['an array', JSON.stringify([LINE, NEXT])],
  ['one object per line', `\uFEFF${JSON.stringify(LINE)}\n${JSON.stringify(NEXT)}\n\n`],
  ['an object with lines', JSON.stringify({ language: 'en', lines: [LINE, NEXT] })],
  ['the printed JSON of a job', JSON.stringify({ id: 'rec_1', result: { lines: [LINE, NEXT] } }, null, 2)],
])('reads %s', (_, text) => {
  expect(looksLikeJson(Buffer.from(text))).toBe(true);
  expect(parseJsonLines(Buffer.from(text))).toEqual([LINE, NEXT]);
});

it('reads a single line', () => {
  expect(parseJsonLines(Buffer.from(JSON.stringify(LINE)))).toEqual([LINE]);
});

it.each([
  [`${JSON.stringify(LINE)}\n{"index":`, 'is not valid JSON'],
  ['{"lines":7}', 'not a list of subtitle lines'],
  ['[{"index":1}]', 'not a list of subtitle lines: /0/'],
])('refuses %s', (text, said) => {
  expect(parseJsonLines(Buffer.from(text))).toContain(said);
});

it('leaves SRT alone', () => {
  expect(looksLikeJson(Buffer.from('1\n00:00:01,000 --> 00:00:02,000\n[music]\n'))).toBe(false);
});
