/** Many items on a terminal: a pseudo-terminal of the system, and one in memory, read the way a terminal reads. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startVloc } from '../../commands/support/run-vloc.ts';
import { openTerminal } from '../../support/pseudo-terminal.ts';
import { createVirtualScreen, type VirtualScreen } from '../support/virtual-screen.ts';

const BOARD = fileURLToPath(new URL('../support/board-on-terminal.ts', import.meta.url));

/** What a terminal has shown in the end, without blank rows. */
function rowsOf(screen: VirtualScreen): readonly string[] {
  return [...screen.scrolled(), ...screen.rows()].filter((row) => row !== '');
}

it('forty items leave only two failures and the totals on the screen, even if the window gets narrower', async () => {
  const { PATH = '', HOME = '' } = process.env;
  const terminal = openTerminal(`'${process.execPath}' '${BOARD}'`, HOME, {
    PATH,
    HOME,
  });
  expect(await terminal.ended, terminal.screen()).toBe(0);
  expect(terminal.screen()).toContain('\u001b[8;40;60t');
  const screen = createVirtualScreen(100, 24);
  screen.write(terminal.screen());
  expect(rowsOf(screen)).toEqual(['✖ talk-10  no speech', '✖ talk-30  no speech', '38 of 40 done, 2 failed']);
  const frames = terminal.screen().split('\u001b[?2026h').length - 1;
  expect(frames).toBeGreaterThan(3);
  expect(terminal.hasRestoredCursor()).toBe(true);
});

it('a command with several inputs leaves only the totals on the screen', async () => {
  const vloc = await startVloc();
  await mkdir(join(vloc.folder, 'subs'));
  for (let at = 0; at < 5; at += 1) {
    await writeFile(
      join(vloc.folder, 'subs', `talk-${at}.srt`),
      `1\n00:00:00,000 --> 00:00:01,000\nhello ${at}\n`,
    );
  }
  const screen = createVirtualScreen(100, 24);
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 100, rows: 24 });
  stderr.on('data', (chunk: Buffer) => screen.write(chunk.toString('utf8')));
  const words = ['translate', 'subs', '--from', 'en', '--to', 'es', '--out', 'out', '-o', 'ndjson'];
  const { code } = await vloc.run(words, { stderr, env: { NO_COLOR: '1' } });
  expect([code, rowsOf(screen)]).toEqual([0, ['5 of 5 done']]);
});
