import fc from 'fast-check';
import { expect, it } from 'vitest';
import { editCues, findEditFault } from '../../../src/batch/page/edit.ts';
import { scanCues } from '../../../src/media/subtitles/read-subtitle.ts';
import { normalizeCueText, parseSrt } from '../../../src/protocol/srt.ts';

const word = fc.constantFrom('uno', 'dos', '<i>tres</i>', '1984', 'ñ', '{\\an8}cuatro');
const rows = fc.array(fc.array(word, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });
const cueText = rows.map((each) => each.map((words) => words.join(' ')).join('\n'));

/** A file as editors write it, in pieces: before, text and after of each cue. */
const file = fc.record({
  mark: fc.constantFrom('', '\uFEFF'),
  end: fc.constantFrom('\n', '\r\n', '\r'),
  texts: fc.array(cueText, { minLength: 1, maxLength: 5 }),
  tail: fc.constantFrom('', '\n', '\n\n\n'),
});

const heads = (at: number) => `${7 * at + 3}\n00:00:0${at},000 --> 00:00:0${at},900 X1:40\n`;

it('an edit of a cue changes its text and not one other byte, whatever the line breaks, mark and numbers', () => {
  fc.assert(
    fc.property(file, fc.nat(), cueText, ({ mark, end, texts, tail }, place, wanted) => {
      const at = place % texts.length;
      const write = (own: readonly string[]) =>
        mark + (own.map((text, cue) => heads(cue) + text).join('\n\n') + tail).replaceAll('\n', end);
      const text = write(texts);
      const cue = scanCues(text, 'srt').cues[at];
      if (cue === undefined || !('textRows' in cue.place)) throw new Error('there is no such cue');
      const edit = { place: { row: cue.row, rows: cue.place.textRows }, text: wanted };
      const written = editCues(text, [edit]);
      expect(written).toBe(write(texts.with(at, wanted)));
      expect(findEditFault(text, edit)).toBe(null);
      expect(parseSrt(written)[at]?.text).toBe(normalizeCueText(wanted));
    }),
  );
});

const FILE = '1\n00:00:01,000 --> 00:00:02,000\none\ntwo\n\n2\n00:00:03,000 --> 00:00:04,000';

it('several edits count rows of the file as it was, and a file may end with times', () => {
  const edits = [
    { place: { row: 2, rows: 2 }, text: 'uno' },
    { place: { row: 7, rows: 0 }, text: 'dos\r\ntres' },
  ];
  expect(editCues(FILE, edits)).toBe(
    '1\n00:00:01,000 --> 00:00:02,000\nuno\n\n2\n00:00:03,000 --> 00:00:04,000\ndos\ntres\n',
  );
});

it.each([
  ['', 'Write a text'],
  [' \n ', 'Write a text'],
  ['a\n00:00:01,500 --> 00:00:02,000\nb', null],
  ['x'.repeat(20_000), 'It cannot be saved'],
  ['una -->\n\n\ndos', null],
])('%j as the text of a cue: %s', (text, fault) => {
  const found = findEditFault(FILE, { place: { row: 2, rows: 2 }, text });
  if (fault === null) expect(found).toBe(null);
  else expect(found).toContain(fault);
});
