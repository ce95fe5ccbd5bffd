import { expect, it } from 'vitest';
import { createLiveBoard } from '../../../src/cli/terminal/live-board.ts';
import { picture } from '../support/pictures.ts';
import { createTerminalIo } from '../support/terminal-io.ts';

const STEP = { phase: 'dubbing', fraction: 0.5 };

it('is quiet with 100 items: only failures scroll, and the totals stay on the screen', () => {
  const { io, style, repeat, pass, screen } = createTerminalIo(100, 24);
  let done = 0;
  let failed = 0;
  const look = () => picture(15, { total: 100, done, failed, waiting: Math.max(0, 85 - done - failed) });
  const board = createLiveBoard(io, style, look, repeat);
  for (let at = 0; at < 100; at += 1) {
    const key = `talk-${at}.mp4 → es`;
    board.show(key, STEP);
    const isFailed = at % 25 === 24;
    if (isFailed) failed += 1;
    else done += 1;
    board.end(key, isFailed ? 'failed' : 'done', isFailed ? 'no speech \u001b[1mfound' : 'talk.es.mp4');
    pass(40);
  }
  const seen = [...screen.scrolled(), ...screen.rows()].filter((row) => row !== '');
  expect(seen.filter((row) => row.startsWith('✖'))).toEqual(
    [24, 49, 74, 99].map((at) => `✖ talk-${at}.mp4 → es  no speech \\u001b[1mfound`),
  );
  expect(seen.filter((row) => row.includes('of 100 done'))).toHaveLength(1);
  board.close();
  board.close();
  const left = [...screen.scrolled(), ...screen.rows()].filter((row) => row !== '');
  expect(left).toHaveLength(5);
  expect(left[4]).toBe('96 of 100 done, 15 running, 4 failed');
});
