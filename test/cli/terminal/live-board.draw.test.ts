import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { drawBoard } from '../../../src/cli/terminal/live-board.ts';
import { loadStyle } from '../../../src/cli/terminal/style.ts';
import type { WorkSummary } from '../../../src/commands/context/context.ts';
import { createTestIo } from '../../support/test-io.ts';
import { picture, QUIET } from '../support/pictures.ts';
import { START_MS } from '../support/terminal-io.ts';

const style = await loadStyle(createTestIo().io, 'never');
const draw = (what: WorkSummary, columns = 100, rows = 24) =>
  drawBoard(what, { columns, rows }, START_MS + 90_000, style);

describe('the frame of many running items', () => {
  it('shows totals first, then a row with bar, stage and time for each running item', () => {
    const lines = draw(picture(2, { total: 400, done: 120, waiting: 276, failed: 2 }));
    expect(lines).toHaveLength(4);
    expect(lines[0]).toBe('━━━━━━──────────────  120 of 400 done, 2 running, 276 waiting, 2 failed');
    expect(lines[2]).toMatch(/^ {2}week1\/talk-00\.mp4 → es +─{20} {2}dubbing 0 % +1 min 30 s$/);
    expect(lines[3]).toMatch(/talk-01\.mp4 → es +━{10}─{10} {2}dubbing 50 % +1 min 29 s$/);
  });

  it('shows what is known about time, credits, slots, the next deadline and the stop', () => {
    const lines = draw(
      {
        ...QUIET,
        counts: { ...QUIET.counts, total: 1, waiting: 1 },
        leftMs: 80 * 60_000,
        cost: '0.3 credits',
        slots: 15,
        deadline: new Date(START_MS + 90_000 + 22.5 * 3_600_000).toISOString(),
        stop: 'the credits are used up',
      },
      140,
    );
    expect(lines[1]).toBe(
      'about 1 h 20 min left · 0.3 credits · 15 slots · next download link expires in 22 h · the credits are used up',
    );
  });

  it.each([
    [100, 24],
    [80, 12],
    [60, 7],
    [40, 6],
    [10, 3],
    [1, 1],
    [250, 100],
  ])('fits a terminal of %i by %i cells with forty running items', (columns, rows) => {
    const lines = draw(picture(40), columns, rows);
    for (const line of lines) expect(stringWidth(line)).toBeLessThan(Math.max(2, columns));
    expect(lines.length).toBeLessThan(Math.max(5, rows));
  });

  it('shows those that run longest if there is no space for all, and how many more there are', () => {
    const lines = draw(picture(40), 100, 10);
    expect(lines).toHaveLength(8);
    expect(lines[2]).toContain('talk-00.mp4');
    expect(lines[6]).toContain('talk-04.mp4');
    expect(lines[7]).toBe('  … and 35 more');
  });

  it('keeps ending and language of a long name, and never interprets its text', () => {
    const label = `${'x'.repeat(90)}\u001b[2J/talk.mp4 → zh-TW`;
    const [, , row = ''] = draw({
      ...QUIET,
      running: [{ label, step: { phase: '\u202eevil', fraction: null }, since: START_MS }],
    });
    expect(row).toContain('talk.mp4 → zh-TW  ─');
    expect(row).toContain('\\u202eevil');
    expect(row).not.toContain('\u001b');
  });

  it('aligns names with wide characters', () => {
    const names = ['a.mp4', '字幕字幕字幕.mp4'];
    const [, , first = '', second = ''] = draw({
      ...QUIET,
      running: names.map((label) => ({ label, step: { phase: 'x', fraction: null }, since: START_MS })),
    });
    const startOfBar = (row: string) => stringWidth(row.slice(0, row.indexOf('─')));
    expect(startOfBar(first)).toBe(startOfBar(second));
  });
});
