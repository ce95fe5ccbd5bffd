/** Many items on a real terminal: a pseudo-terminal of the system, read the way a terminal reads. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { startVloc } from '../../commands/support/run-vloc.ts';
import { openTerminal } from '../../support/pseudo-terminal.ts';
import { createVirtualScreen } from '../support/virtual-screen.ts';

const supportFile = (name: string) => fileURLToPath(new URL(`../support/${name}`, import.meta.url));

/** What a terminal of 24 rows of 100 cells has shown in the end, without blank rows. */
function showAll(written: string): readonly string[] {
  const screen = createVirtualScreen(100, 24);
  screen.write(written);
  return [...screen.scrolled(), ...screen.rows()].filter((row) => row !== '');
}

it('forty items leave only two failures and the totals on the screen, even if the window gets narrower', async () => {
  const { PATH = '', HOME = '' } = process.env;
  const terminal = openTerminal(`'${process.execPath}' '${supportFile('board-on-terminal.ts')}'`, HOME, {
    PATH,
    HOME,
  });
  expect(await terminal.ended, terminal.screen()).toBe(0);
  expect(showAll(terminal.screen())).toEqual([
    '✖ talk-10  no speech',
    '✖ talk-30  no speech',
    '38 of 40 done, 2 failed',
  ]);
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
  const command = `'${process.execPath}' '${supportFile('run.ts')}' translate subs --from en --to es --out out`;
  const { PATH = '', HOME = '' } = process.env;
  const { url: VLOC_BASE_URL } = vloc.service;
  const { key: VLOC_KEY, secret: VLOC_SECRET } = vloc.credentials;
  const state = join(vloc.folder, 'state');
  const own = { VLOC_BASE_URL, VLOC_KEY, VLOC_SECRET, VLOC_STATE_DIR: state, VLOC_CONFIG_DIR: state };
  const env = { PATH, HOME, ...own, NO_COLOR: '1' };
  const terminal = openTerminal(`${command} -o ndjson > events.ndjson`, vloc.folder, env);
  expect(await terminal.ended, terminal.screen()).toBe(0);
  expect(showAll(terminal.screen())).toEqual(['5 of 5 done']);
});
