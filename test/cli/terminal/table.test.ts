import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { loadStyle } from '../../../src/cli/terminal/style.ts';
import { layOut } from '../../../src/cli/terminal/table.ts';
import { anyText } from '../../protocol/arbitraries.ts';
import { createTestIo } from '../../support/test-io.ts';

const style = await loadStyle(createTestIo().io, 'always');

describe('a table', () => {
  it('aligns columns by what a terminal shows: wide, combined and recent characters', () => {
    for (const cell of ['字幕', 'e\u0301a', '👨‍👩‍👧', '🫠', 'नमस्ते', '❤️', 'สวัสดีที่นี่', 'ภาษาไทย.mp4', 'xx', '']) {
      const [head = '', row = ''] = layOut(['AAAAAAAAAAAA', 'B'], [[cell, '|']]).split('\n');
      expect(row.startsWith(cell)).toBe(true);
      expect(stringWidth(row.slice(0, row.indexOf('|')))).toBe(head.indexOf('B'));
    }
  });

  it('has no head if no column has a title, and columns of the width that is asked for', () => {
    const head = [{ title: '', cells: 10 }, ''];
    const rows = [
      ['Review:', 'talk.srt'],
      ['', 'talk.es.srt'],
    ];
    expect(layOut(head, rows).split('\n')).toEqual(['Review:     talk.srt', '            talk.es.srt']);
  });

  it.each([[`สระอำ${'ำ'.repeat(40)}`], [`한${'🏽'.repeat(20)}`], [`क${'\u094d\u0915'.repeat(30)}`]])(
    'breaks %s, whose last character is wider than the column',
    (cell) => {
      const text = layOut([{ title: 'FILE', wraps: 8 }, 'AT'], [[cell, '|']], { width: 14 });
      expect([...text.replace(/\s/g, '')].toSorted()).toEqual([...`FILEAT|${cell}`].toSorted());
      for (const line of text.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(14);
    },
  );

  it('has no row wider than the terminal, whatever the script, but for columns that are copied', () => {
    const character = fc.oneof(
      fc.constantFrom(
        'a',
        ' ',
        '/',
        '字',
        '한',
        'ü',
        'e\u0301',
        'สำ',
        'ที่',
        'นำ',
        'नमस्ते',
        'क्षि',
        'ﾊﾞ',
        '\u0300',
        '\u200d',
      ),
      fc.constantFrom(
        '🫠',
        '👩🏽‍🚀',
        '👨‍👩‍👧',
        '❤️',
        '1️⃣',
        '🇩🇪',
        '🏽',
        '\ufe0f',
        '\u001b[31m',
        '\u0000',
        '\u202e',
      ),
      fc.string({ unit: 'grapheme', maxLength: 3 }),
      anyText({ maxLength: 2 }),
    );
    const cell = fc.array(character, { maxLength: 15 }).map((parts) => parts.join(''));
    const titles = ['ID', 'FILE', '状態', 'ERROR'];
    const column = (title: string) =>
      fc.record({ title: fc.constant(title), wraps: fc.integer({ min: 2, max: 30 }) });
    const table = fc.record({
      head: fc.tuple(...titles.map(column)),
      rows: fc.array(fc.tuple(...titles.map(() => cell)), { maxLength: 3 }),
      // The list is at least as wide as a title, the gap, and what a column gets narrower to.
      width: fc.integer({ min: 37, max: 120 }),
    });
    fc.assert(
      fc.property(table, ({ head, rows, width }) => {
        for (const line of layOut(head, rows, { width }).split('\n')) {
          expect(stringWidth(line)).toBeLessThanOrEqual(width);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('escapes every cell', () => {
    expect(layOut(['A'], [['\u001b[2J']])).toContain('\\u001b[2J');
  });

  it('colours what failed and what succeeded, in a column of states only', () => {
    const head = ['NAME', { title: 'STATUS', status: true }];
    const rows = [
      ['failed', 'failed'],
      ['b', 'succeeded'],
      ['c', 'processing'],
    ];
    const text = layOut(head, rows, { style });
    expect(text).toContain('failed  \u001b[31mfailed\u001b[39m');
    expect(text).toContain('\u001b[32msucceeded\u001b[39m');
    expect(text.split('\u001b[3')).toHaveLength(5);
    expect(stripVTControlCharacters(text)).toBe(layOut(head, rows));
  });

  it('puts a long name on several lines, and drops an optional column only if that does not suffice', () => {
    const head = [{ title: 'INPUT', wraps: 20 }, 'RESULT', { title: 'JOB', drops: 1 }];
    const row = ['lessons/week1/talk-07.mp4', 'out/week1/talk-07.es.mp4', 'loc_01k9x2m4n6p8q0r2s4t6v8w0y2'];
    const narrow = layOut(head, [row], { width: 77 });
    expect(narrow).not.toContain('JOB');
    expect(narrow).toContain(`${row[0]}  ${row[1]}`);
    expect(layOut(head, [row], { width: 90 })).toContain(row.join('  '));
    const wrapped = layOut(head, [row], { width: 78 }).split('\n').slice(1);
    expect(wrapped).toEqual([`lessons/week1/        ${row[1]}  ${row[2]}`, 'talk-07.mp4']);
    expect(layOut(head, [row])).toContain('JOB');
  });

  it('loses no character of a cell, whatever the script and the width', () => {
    const id = 'loc_01k9x2m4n6p8q0r2s4t6v8w0y2';
    const head = ['JOB', { title: 'FILE', wraps: 8 }, { title: 'WHY', wraps: 12 }];
    const cells = [
      'a-rather-long-name.mp4',
      'videos/a/b/c/talk.mp4',
      '字幕'.repeat(10),
      '👩🏽‍🚀'.repeat(9),
      'สวัสดี '.repeat(4),
    ];
    const rows = cells.map((cell, at) => [id, cell, cells.at(at - 1) ?? '']);
    const lettersOf = (text: string) => [...text.replace(/\s/g, '')].toSorted().join('');
    const whole = lettersOf(layOut(head, rows));
    for (const width of [54, 60, 72, 80, 100]) {
      const table = layOut(head, rows, { width });
      expect(lettersOf(table)).toBe(whole);
      expect(table.split(id)).toHaveLength(cells.length + 1);
      for (const line of table.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(width);
    }
  });

  it('breaks long prose of such a list at its words, and no ids', () => {
    const head = ['JOB', { title: 'ERROR', wraps: 20 }];
    const row = ['loc_01k9x2m4n6p8q0r2s4t6v8w0y2', 'the video has no sound that could be recognized'];
    expect(layOut(head, [row], { width: 30 }).split('\n')).toEqual([
      'JOB    loc_01k9x2m4n6p8q0r2s4t6v8w0y2',
      'ERROR  the video has no sound',
      '       that could be',
      '       recognized',
    ]);
  });

  it('becomes a list of titles and values where its columns do not fit, with the dropped ones', () => {
    const head = [
      'JOB',
      { title: 'STATUS', status: true },
      { title: 'KIND', drops: 1 },
      { title: 'ERROR', wraps: 20 },
    ];
    const rows = [
      ['loc_01k9x2m4n6p8q0r2s4t6v8w0y2', 'failed', 'dubbing', 'it broke'],
      ['loc_01k9x2m4n6p8q0r2s4t6v8w0y3', 'succeeded', 'dubbing', ''],
    ];
    expect(layOut(head, rows, { width: 40 })).toBe(
      [
        'JOB     loc_01k9x2m4n6p8q0r2s4t6v8w0y2',
        'STATUS  failed',
        'KIND    dubbing',
        'ERROR   it broke',
        '',
        'JOB     loc_01k9x2m4n6p8q0r2s4t6v8w0y3',
        'STATUS  succeeded',
        'KIND    dubbing',
      ].join('\n'),
    );
    expect(layOut(head, rows, { width: 40, style })).toContain('STATUS  \u001b[31mfailed');
  });

  it('keeps the last column on one line, so that a command in it can be pasted', () => {
    const row = [
      'fail',
      'space',
      '→ remove the files of `vloc batch forget out --gone --yes --state failed`',
    ];
    const table = layOut(['STATE', 'CHECK', 'FINDING'], [row], { width: 60 });
    expect(table.split('\n')[1]).toBe(`fail   space  ${row[2]}`);
  });
});
