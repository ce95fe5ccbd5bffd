import { readFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { askLine, askYesNo } from '../../../src/cli/terminal/ask.ts';
import { Interruption } from '../../../src/commands/context/context.ts';
import { openTerminal } from '../../support/pseudo-terminal.ts';
import { createTestIo } from '../../support/test-io.ts';

const RUN = fileURLToPath(new URL('../support/run.ts', import.meta.url));
const ADD = `'${process.execPath}' '${RUN}' profile add prod --no-check --store file`;

const ENDLESS = new AbortController().signal;

const SECRET = { text: 'Secret:', typed: 'hidden', flag: '--secret-stdin' } as const;

function open(command: string) {
  const { PATH = '', HOME = '', VLOC_CONFIG_DIR = '' } = process.env;
  return openTerminal(command, HOME, { PATH, HOME, VLOC_CONFIG_DIR });
}

const INSTALL = 'Install them now? [y/N]';

/** Asks before it installs: with such a PATH all engines are missing, and nothing could be installed. */
function openInstall() {
  return open(`PATH=/nowhere '${process.execPath}' '${RUN}' engines install`);
}

it('on a terminal asks for missing values, and never shows the secret', async () => {
  const terminal = open(ADD);
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

it('on a terminal Ctrl-C at a hidden question ends the run with 130, in silence', async () => {
  const terminal = open(`${ADD} --replace --base-url https://api.example.com/v1 --key vk_1`);
  await terminal.see('API secret (not shown):');
  terminal.type('\x03');
  expect(await terminal.ended).toBe(130);
  expect(terminal.screen()).not.toContain('✖');
});

it.each([
  ['Ctrl-D is no answer', '\x04', 2, /"Install them now\?" was not answered.*--yes/s],
  ['a no is an answer', 'n\r', 4, /nothing was installed/],
])('on a terminal %s', async (_, keys, code, told) => {
  const terminal = openInstall();
  await terminal.see(INSTALL);
  terminal.type(keys);
  expect(await terminal.ended).toBe(code);
  expect(terminal.screen()).toMatch(told);
});

/** A terminal of this process, with the keys that a person types. */
function createKeys(setRawMode: (isRaw: boolean) => void = () => undefined) {
  const { io, stderr } = createTestIo();
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode });
  Object.assign(io.stderr, { isTTY: true });
  return { io: { ...io, stdin: keys }, keys, stderr };
}

describe.each([
  { kind: 'a shown line', ask: askLine, question: { ...SECRET, typed: 'shown' } },
  { kind: 'a hidden line', ask: askLine, question: SECRET },
  { kind: 'yes or no', ask: askYesNo, question: { ...SECRET, typed: 'shown' } },
] as const)('a question for $kind', ({ ask, question }) => {
  it('is interrupted by Ctrl-C', async () => {
    const { io, keys } = createKeys();
    keys.write('\x03');
    await expect(ask(question, io, ENDLESS)).rejects.toThrow(new Interruption('SIGINT'));
  });

  it('is not answered by Ctrl-D', async () => {
    const { io, keys } = createKeys();
    keys.write('\x04');
    await expect(ask(question, io, ENDLESS)).rejects.toMatchObject({
      facts: { category: 'usage', code: 'NO_ANSWER', message: expect.stringContaining('was not answered') },
    });
  });
});

it('a signal from another process ends a question too', async () => {
  const { io } = createKeys();
  const controller = new AbortController();
  const answer = askYesNo({ ...SECRET, typed: 'shown' }, io, controller.signal);
  controller.abort(new Interruption('SIGTERM'));
  await expect(answer).rejects.toThrow('terminated');
});

it('asks for a secret only once the terminal no longer shows typed text', async () => {
  const shown: string[] = [];
  const { io, keys, stderr } = createKeys((isRaw) => shown.push(`raw ${isRaw}: ${stderr()}`));
  const answer = askLine(SECRET, io, ENDLESS);
  keys.write('canary\r');
  expect(await answer).toBe('canary');
  expect(shown).toEqual(['raw true: ', 'raw false: Secret: ']);
});

it('asks nobody without a terminal, and names the flag that answers', async () => {
  const { io, stderr } = createTestIo({ stdin: 'canary\n' });
  const failure = {
    facts: { category: 'usage', code: 'NO_ANSWER', advice: expect.stringContaining('--secret-stdin') },
  };
  await expect(askLine(SECRET, io, ENDLESS)).rejects.toMatchObject(failure);
  await expect(askYesNo(SECRET, io, ENDLESS)).rejects.toMatchObject(failure);
  expect(stderr()).toBe('');
});
