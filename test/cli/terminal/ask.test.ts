import { readFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { askLine } from '../../../src/cli/terminal/ask.ts';
import { openTerminal } from '../../e2e/terminal.ts';
import { createTestIo } from '../../support/test-io.ts';

const RUN = fileURLToPath(new URL('../support/run.ts', import.meta.url));
const ADD = `'${process.execPath}' '${RUN}' profile add prod --no-check --store file`;

function open(more = '') {
  const { PATH = '', HOME = '', VLOC_CONFIG_DIR = '' } = process.env;
  return openTerminal(`${ADD}${more}`, HOME, { PATH, HOME, VLOC_CONFIG_DIR });
}

it('on a terminal asks for what is missing, and never shows the secret', async () => {
  const terminal = open();
  await terminal.see('Base URL:');
  terminal.type('https://api.example.com/v1\r');
  await terminal.see('API key:');
  terminal.type('vk_1\r');
  await terminal.see('API secret (not shown):');
  terminal.type('canaryx\x7f\r');
  expect(await terminal.ended).toBe(0);
  expect(terminal.screen()).toContain('prod');
  expect(terminal.screen()).not.toContain('canary');
  const file = await readFile(`${process.env.VLOC_CONFIG_DIR}/profiles.json`, 'utf8');
  expect(JSON.parse(file).profiles).toMatchObject([
    { base_url: 'https://api.example.com/v1', key: 'vk_1', secret: { value: 'canary' } },
  ]);
});

it('Ctrl-C at a question ends the run as anywhere else', async () => {
  const terminal = open(' --replace');
  await terminal.see('Base URL:');
  terminal.type('\x03');
  expect(await terminal.ended).toBe(130);
});

it('asks for a secret only once the terminal no longer shows what is typed', async () => {
  const { io, stderr } = createTestIo();
  const shown: string[] = [];
  const keys = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (isRaw: boolean) => shown.push(`raw ${isRaw}: ${stderr()}`),
  });
  Object.assign(io.stderr, { isTTY: true });
  const answer = askLine('Secret:', 'hidden', { ...io, stdin: keys });
  keys.write('canary\r');
  expect(await answer).toBe('canary');
  expect(shown).toEqual(['raw true: ', 'raw false: Secret: ']);
});

it('nobody is asked where there is no terminal', async () => {
  const { io, stderr } = createTestIo({ stdin: 'canary\n' });
  expect(await askLine('Secret:', 'hidden', io)).toBeNull();
  expect(stderr()).toBe('');
});
