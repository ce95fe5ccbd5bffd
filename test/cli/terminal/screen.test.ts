import { describe, expect, it } from 'vitest';
import { createScreen } from '../../../src/cli/terminal/screen.ts';
import { createTerminalIo } from '../support/terminal-io.ts';

function open(lines: () => readonly string[], columns = 40, rows = 10) {
  const terminal = createTerminalIo(columns, rows);
  const screen = createScreen(terminal.io, lines, terminal.repeat);
  return { ...terminal, live: screen };
}

const shown = (rows: readonly string[]) => rows.filter((row) => row !== '');

describe('a screen', () => {
  it('is drawn at most five times a second, however much happens', () => {
    let count = 0;
    const { live, pass, writes } = open(() => [`frame ${count}`]);
    for (let event = 0; event < 200; event += 1) {
      count += 1;
      live.refresh();
      pass(5);
    }
    expect(writes).toHaveLength(5);
    live.close();
  });

  it('writes each frame in one piece, between the marks that keep a terminal from showing half of it', () => {
    const { live, pass, writes } = open(() => ['one', 'two']);
    pass(200);
    expect(writes).toHaveLength(1);
    expect(writes[0]?.startsWith('\u001b[?2026h')).toBe(true);
    expect(writes[0]?.endsWith('\u001b[?2026l')).toBe(true);
    live.close();
  });

  it('writes nothing without a change, and checks once a second for times that have changed', () => {
    let looks = 0;
    const { live, pass, writes } = open(() => {
      looks += 1;
      return [looks < 6 ? 'same' : 'a minute later'];
    });
    pass(5000);
    expect([looks, writes.length]).toEqual([5, 1]);
    pass(5000);
    expect([looks, writes.length]).toEqual([10, 2]);
    live.close();
  });

  it('keeps its position: a thousand frames scroll nothing away', () => {
    let count = 0;
    const { live, pass, screen } = open(() =>
      Array.from({ length: 3 + (count % 5) }, (_, at) => `${count} ${at}`),
    );
    for (count = 0; count < 1000; count += 1) {
      live.refresh();
      pass(200);
    }
    expect(screen.scrolled()).toEqual([]);
    expect(shown(screen.rows())).toEqual(['999 0', '999 1', '999 2', '999 3', '999 4', '999 5', '999 6']);
    live.close();
  });

  it('puts printed text above the frame, where it stays', () => {
    const { live, pass, screen } = open(() => ['totals', 'row']);
    pass(200);
    live.print('✖ a.mp4 failed');
    live.print('✖ b.mp4 failed');
    pass(200);
    expect(shown(screen.rows())).toEqual(['✖ a.mp4 failed', '✖ b.mp4 failed', 'totals', 'row']);
    live.close();
    expect(shown(screen.rows())).toEqual(['✖ a.mp4 failed', '✖ b.mp4 failed']);
  });

  it('does not lose what is printed just before the end, and ends once', () => {
    const { live, screen, pass, writes } = open(() => ['totals']);
    pass(200);
    live.print('last');
    live.close();
    live.close();
    pass(1000);
    expect(shown(screen.rows())).toEqual(['last']);
    expect(writes).toHaveLength(2);
  });

  it.each([
    ['narrower', 25, 10],
    ['narrower than half', 19, 12],
    ['wider', 80, 10],
    ['lower', 40, 6],
    ['both', 21, 30],
  ])('leaves no remains when the terminal gets %s', (_, columns, rows) => {
    const wide = 'x'.repeat(200);
    const terminal = createTerminalIo(40, 10);
    const live = createScreen(
      terminal.io,
      (room) => Array.from({ length: 3 }, (_each, at) => `${at}${wide}`.slice(0, room.columns - 1)),
      terminal.repeat,
    );
    terminal.screen.write('before\n');
    terminal.pass(200);
    terminal.resize(columns, rows);
    terminal.pass(200);
    const expected = [0, 1, 2].map((at) => `${at}${wide}`.slice(0, columns - 1));
    expect([...terminal.screen.scrolled(), ...shown(terminal.screen.rows())]).toEqual([
      'before',
      ...expected,
    ]);
    live.close();
  });
});
