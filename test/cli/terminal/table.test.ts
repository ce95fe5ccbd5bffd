import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { loadStyle } from '../../../src/cli/terminal/style.ts';
import { layOut } from '../../../src/cli/terminal/table.ts';
import { createTestIo } from '../../support/test-io.ts';

const style = await loadStyle(createTestIo().io, 'always');

describe('a table', () => {
  it('aligns columns by what a terminal shows: wide, combined and recent characters', async () => {
    for (const cell of ['字幕', 'e\u0301a', '👨‍👩‍👧', '🫠', 'नमस्ते', '❤️', 'สวัสดีที่นี่', 'ภาษาไทย.mp4', 'xx', '']) {
      const [head = '', row = ''] = (await layOut(['AAAAAAAAAAAA', 'B'], [[cell, '|']])).split('\n');
      expect(row.startsWith(cell)).toBe(true);
      expect(stringWidth(row.slice(0, row.indexOf('|')))).toBe(head.indexOf('B'));
    }
  });

  it('makes a column as wide as its widest cell on the screen, whatever the script', async () => {
    const cells = ['字幕', 'สวัสดี', 'नमस्ते', '👩🏽‍🚀🫠', 'abc'];
    const rows = cells.map((cell) => [cell, '|']);
    const lines = (await layOut(['A', 'B'], rows)).split('\n');
    const widest = Math.max(...cells.map((cell) => stringWidth(cell)));
    for (const line of lines.slice(1)) expect(stringWidth(line.slice(0, line.indexOf('|')))).toBe(widest + 2);
  });

  it('keeps its columns and its order over hundreds of rows', async () => {
    const names = Array.from({ length: 250 }, (_, at) => `${at % 3 === 0 ? '字幕' : 'talk'}-${at}`);
    const lines = (
      await layOut(
        ['NAME', 'EMPTY', 'AT'],
        names.map((name, at) => [name, '', `#${at}`]),
      )
    ).split('\n');
    expect(lines).toHaveLength(251);
    for (const [at, line] of lines.slice(1).entries()) {
      expect(line).toBe(
        `${names[at]}${' '.repeat(8 - stringWidth(names[at] ?? ''))}  ${' '.repeat(5)}  #${at}`,
      );
    }
  });

  it('escapes every cell', async () => {
    expect(await layOut(['A'], [['\u001b[2J']])).toContain('\\u001b[2J');
  });

  it('colours what failed and what succeeded, in a column of states only', async () => {
    const head = ['NAME', { title: 'STATUS', status: true }];
    const rows = [
      ['failed', 'failed'],
      ['b', 'succeeded'],
      ['c', 'processing'],
    ];
    const text = await layOut(head, rows, { style });
    expect(text).toContain('failed  \u001b[31mfailed\u001b[39m');
    expect(text).toContain('\u001b[32msucceeded\u001b[39m');
    expect(text.split('\u001b[3')).toHaveLength(5);
    expect(stripVTControlCharacters(text)).toBe(await layOut(head, rows));
  });

  it('omits an optional column before it makes names unreadable, and only if it must', async () => {
    const head = [{ title: 'INPUT', shrinks: 1, least: 20 }, 'RESULT', { title: 'JOB', drops: true }];
    const row = ['lessons/week1/talk-07.mp4', 'out/week1/talk-07.es.mp4', 'loc_01k9x2m4n6p8q0r2s4t6v8w0y2'];
    const narrow = await layOut(head, [row], { width: 77 });
    expect(narrow).not.toContain('JOB');
    expect(narrow).toContain(`${row[0]}  ${row[1]}`);
    expect(await layOut(head, [row], { width: 90 })).toContain(row.join('  '));
    expect(await layOut(head, [row], { width: 78 })).toContain('lessons/week1/talk-…');
    expect(await layOut(head, [row])).toContain('JOB');
  });

  it('shortens the least important columns until it fits, and never an id', async () => {
    const id = 'loc_01k9x2m4n6p8q0r2s4t6v8w0y2';
    const head = ['JOB', { title: 'FILE', shrinks: 1 }, { title: 'REFERENCE', shrinks: 2 }];
    const row = [id, 'a-rather-long-name.mp4', '字幕'.repeat(10)];
    const fitted = (await layOut(head, [row], { width: 60 })).split('\n');
    for (const line of fitted) expect(stringWidth(line)).toBeLessThanOrEqual(60);
    expect(fitted[1]).toContain(id);
    expect(fitted[1]).toContain('a-rather-long-na…');
    expect(fitted[1]).toMatch(/字幕字幕…$/);
    expect(await layOut(head, [row])).toContain(row.join('  '));
    expect(await layOut(head, [row], { width: 10 })).toContain(id);
  });
});
