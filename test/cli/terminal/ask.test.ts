import { readFile } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { askLine, askYesNo } from '../../../src/cli/terminal/ask.ts';
import { Interruption } from '../../../src/commands/context/context.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { openTerminal } from '../../support/pseudo-terminal.ts';
import { foldersIn } from '../../support/run-main.ts';
import { createTestIo } from '../../support/test-io.ts';

const RUN = fileURLToPath(new URL('../support/run.ts', import.meta.url));
const ADD = `'${process.execPath}' '${RUN}' profile add prod --no-check --store file`;

const ENDLESS = new AbortController().signal;

const SECRET = { text: 'Secret:', typed: 'hidden', flag: '--secret-stdin' } as const;

function open(command: string) {
  const { PATH = '', HOME = '', VLOC_CONFIG_DIR = '' } = process.env;
  return openTerminal(command, HOME, { PATH, HOME, VLOC_CONFIG_DIR });
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

/** A terminal of this process, with the keys that a person types. */
function createKeys(setRawMode: (isRaw: boolean) => void = () => undefined) {
  const { io, stderr } = createTestIo();
  const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode });
  Object.assign(io.stderr, { isTTY: true });
  return { io: { ...io, stdin: keys }, keys, stderr };
}

it.each([
  [
    'Ctrl-C at a hidden question ends the run, in silence',
    'profile add prod --base-url https://api.example.com/v1 --key k',
    '\x03',
    130,
    /^API secret \(not shown\): \n$/,
  ],
  ['Ctrl-D is no answer', 'engines install', '\x04', 2, /"Install them now\?" was not answered.*--yes/s],
  ['a no is an answer', 'engines install', 'n\r', 4, /nothing was installed/],
])('in a command, %s', async (_, words, typed, code, told) => {
  const { io, keys, stderr } = createKeys();
  const folder = makeFolder();
  // With such a PATH all engines are missing, and nothing could be installed.
  const env = { PATH: '/nowhere', HOME: folder, ...foldersIn(folder) };
  keys.write(typed);
  expect(await main(words.split(' '), { ...io, env })).toBe(code);
  expect(stderr()).toMatch(told);
});

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
