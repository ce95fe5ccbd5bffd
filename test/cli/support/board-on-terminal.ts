/** A batch of forty on the terminal of this process, which gets narrower half-way; for tests on a pseudo-terminal. */
import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { createLiveBoard } from '../../../src/cli/terminal/live-board.ts';
import { loadStyle } from '../../../src/cli/terminal/style.ts';
import { createTestIo } from '../../support/test-io.ts';
import { picture } from './pictures.ts';
import { START_MS } from './terminal-io.ts';

const ITEMS = 40;
/** Several frames before the change of size and several after it. */
const STEP_MS = 30;

let now = START_MS;
const { io } = createTestIo({ now: () => now });
const style = await loadStyle(io, 'always');
let done = 0;
let failed = 0;
const look = () => {
  const waiting = Math.max(0, ITEMS - 15 - done - failed);
  return picture(ITEMS - waiting - done - failed, { total: ITEMS, waiting, done, failed });
};
const board = createLiveBoard({ ...io, stderr: process.stderr }, style, look);
for (let at = 0; at < ITEMS; at += 1) {
  if (at === ITEMS / 2) resize(60, 40);
  const isFailed = at % 20 === 10;
  if (isFailed) failed += 1;
  else done += 1;
  board.end(`talk-${at}`, isFailed ? 'failed' : 'done', 'no speech');
  now += 1000;
  await delay(STEP_MS);
}
board.close();

/** Tells the terminal, and with its sequence also the reader of the output. Source: xterm, "Window manipulation". */
function resize(columns: number, rows: number): void {
  // Until its signal has come, frames are drawn for the old size, so the reader has that too.
  process.stderr.once('resize', () => process.stderr.write(`\u001b[8;${rows};${columns}t`));
  spawnSync('stty', ['rows', String(rows), 'cols', String(columns)], { stdio: 'inherit' });
}
