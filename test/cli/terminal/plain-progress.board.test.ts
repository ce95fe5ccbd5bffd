import { expect, it } from 'vitest';
import { createPlainBoard } from '../../../src/cli/terminal/plain-progress.ts';
import { createTestIo } from '../../support/test-io.ts';
import { picture } from '../support/pictures.ts';
import { createTerminalIo } from '../support/terminal-io.ts';

function open(look = () => picture(15, { total: 400, done: 120, waiting: 265 })) {
  const { repeat, pass, io: clock } = createTerminalIo();
  const { io, stderr } = createTestIo({ now: clock.now });
  const board = createPlainBoard(io, look, repeat);
  return { board, pass, rows: () => stderr().split('\n').slice(0, -1) };
}

const TOTALS = '120 of 400 done, 15 running, 265 waiting';

it('writes a line for each failure, and none for steps and results', () => {
  const { board, rows } = open();
  board.show('a.mp4', { phase: 'uploading', fraction: 0.1 });
  board.show('a.mp4', { phase: 'dubbing', fraction: 0 });
  board.end('a.mp4', 'failed', 'no speech\u001b[2J');
  board.end('b.mp4', 'done', 'out/b.es.mp4');
  expect(rows()).toEqual([TOTALS, 'a.mp4: no speech\\u001b[2J']);
});

it('writes the totals at the start and each 30 s', () => {
  const { rows, pass } = open();
  expect(rows()).toEqual([TOTALS]);
  pass(29_999);
  expect(rows()).toHaveLength(1);
  pass(1);
  expect(rows()).toEqual([TOTALS, TOTALS]);
  pass(60_000);
  expect(rows()).toHaveLength(4);
});

it('writes the outcome once, and nothing after it', () => {
  let done = 23;
  const { board, rows, pass } = open(() => picture(24 - done, { total: 24, done }));
  done = 24;
  board.close();
  board.close();
  pass(60_000);
  expect(rows()).toEqual(['23 of 24 done, 1 running', '24 of 24 done']);
});

it('says once that there is nothing to do, and then writes nothing', () => {
  let running = 1;
  const { board, pass, rows } = open(() => picture(running, { total: 2, done: 2 - running }));
  pass(30_000);
  running = 0;
  pass(300_000);
  running = 1;
  pass(30_000);
  expect(rows()).toEqual([
    '1 of 2 done, 1 running',
    '1 of 2 done, 1 running',
    '2 of 2 done',
    '1 of 2 done, 1 running',
  ]);
  board.close();
});

it('writes each result of a watched folder, and nothing before the first file arrives', () => {
  const { board, pass, rows } = open(() => picture(0, { total: 0, done: 0 }));
  pass(300_000);
  expect(rows()).toEqual([]);
  board.end('a.mp4', 'done', 'out/a.es.mp4');
  board.close();
  expect(rows()).toEqual(['a.mp4: out/a.es.mp4']);
});
