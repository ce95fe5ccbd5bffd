import { expect, it } from 'vitest';
import { createPlainBoard } from '../../../src/cli/terminal/plain-board.ts';
import { createTestIo } from '../../support/test-io.ts';
import { picture } from '../support/pictures.ts';
import { createTerminalIo } from '../support/terminal-io.ts';

function open() {
  const { repeat, pass, io: clock } = createTerminalIo();
  const { io, stderr } = createTestIo({ now: clock.now });
  const board = createPlainBoard(io, () => picture(15, { total: 400, done: 120, waiting: 265 }), repeat);
  return { board, pass, rows: () => stderr().split('\n').slice(0, -1) };
}

it('writes a line for each change and none for what is only further', () => {
  const { board, rows } = open();
  board.show('a.mp4', { phase: 'uploading', fraction: 0.1 });
  board.show('a.mp4', { phase: 'uploading', fraction: 0.9 });
  board.show('a.mp4', { phase: 'dubbing', fraction: 0 });
  board.end('a.mp4', 'failed', 'no speech\u001b[2J');
  expect(rows()).toEqual(['a.mp4: uploading 10 %', 'a.mp4: dubbing 0 %', 'a.mp4: no speech\\u001b[2J']);
});

it('gives a sign of life with the totals each 30 s, and once more at the end', () => {
  const { board, rows, pass } = open();
  pass(29_999);
  expect(rows()).toEqual([]);
  pass(1);
  expect(rows()).toEqual(['120 of 400 done, 15 running, 265 waiting']);
  pass(60_000);
  expect(rows()).toHaveLength(3);
  board.close();
  board.close();
  pass(60_000);
  expect(rows()).toHaveLength(4);
});

it('gives no sign of life while there is nothing to do, once it has said so', () => {
  const { repeat, pass, io: clock } = createTerminalIo();
  const { io, stderr } = createTestIo({ now: clock.now });
  let running = 1;
  const board = createPlainBoard(io, () => picture(running, { total: 2, done: 2 - running }), repeat);
  pass(60_000);
  running = 0;
  pass(300_000);
  running = 1;
  pass(30_000);
  expect(stderr().split('\n').slice(0, -1)).toEqual([
    '1 of 2 done, 1 running',
    '1 of 2 done, 1 running',
    '2 of 2 done',
    '1 of 2 done, 1 running',
  ]);
  board.close();
});
