/** The recipes of the page about engines: each command can be run, and writes the entry that the page shows. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openEnginesDesk } from '../commands/support/run-engines.ts';
import { writeTinyVoice } from '../engines/backends/sherpa/tiny-models.ts';
import { listFiles } from '../structure/modules.ts';

const page = readFileSync(new URL('../../docs/engines.md', import.meta.url), 'utf8');

/** Blocks of commands that add engines, with the file that they write where the page shows it. */
const RECIPES = [...page.matchAll(/```sh\n([^`]*vloc engines add [^`]*)```(?:\n+```json\n([^`]*)```)?/g)].map(
  ([, block = '', file]) => ({
    commands: block.split('\n').filter((line) => line.startsWith('vloc engines add ')),
    file: file === undefined ? undefined : JSON.parse(file),
  }),
);

/** Splits a command as a shell does. A home folder stays as it is written. */
function wordsOf(command: string): string[] {
  const rest = command.slice('vloc engines '.length);
  const script = `printf '%s\\0' ${rest}`;
  const printed = execFileSync('sh', ['-c', script], {
    encoding: 'utf8',
    env: { HOME: '~', PATH: process.env.PATH },
  });
  return printed.split('\0').slice(0, -1);
}

it.each(RECIPES)('$commands.0 can be run, and writes what the page shows', async ({ commands, file }) => {
  const desk = await openEnginesDesk();
  writeTinyVoice(join(desk.folder, 'models', 'vits-piper-en_US-ljspeech-medium'));
  for (const command of commands) {
    const [add = '', step = '', ...rest] = wordsOf(command);
    const { code, stderr } = await desk.run([add, step, '--no-check', ...rest], { HOME: desk.folder });
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  }
  const { $schema, ...saved } = await desk.saved();
  expect($schema).toContain('engines.schema.json');
  if (file !== undefined) expect(saved).toEqual(file);
});

it('has a recipe for each kind of engine', () => {
  const commands = RECIPES.flatMap((recipe) => recipe.commands);
  const types = commands.map((command) => / --type (\S+)/.exec(command)?.[1] ?? 'command');
  expect(new Set(types)).toEqual(new Set(['openai', 'libretranslate', 'sherpa', 'command']));
});

it('lists messages that engines have', () => {
  const table = /message contains[\s\S]*?\n\n/.exec(page)?.[0] ?? '';
  const rows = table
    .split('\n')
    .slice(2)
    .map((row) => row.split('|')[1] ?? '');
  const phrases = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, phrase = '']) => phrase));
  expect(phrases.length).toBeGreaterThan(15);
  const sources = listFiles('src').map((path) => readFileSync(path, 'utf8'));
  expect(phrases.filter((phrase) => !sources.some((text) => text.includes(phrase)))).toEqual([]);
});
