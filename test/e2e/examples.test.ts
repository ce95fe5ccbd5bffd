/** The examples of `--help` that need a shell or depend on the machine run unchanged, against a service with small engines. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Example } from '../../src/commands/context/command.ts';
import { COMMANDS } from '../../src/commands/tree.ts';
import { createPrograms } from '../../src/media/programs/programs.ts';
import type { Ended } from '../support/run-main.ts';
import {
  type Desk,
  isOfTheMachine,
  needsShell,
  openDesk,
  promisedFiles,
  splitWords,
} from './examples/desk.ts';
import { prepare } from './examples/prepare.ts';
import { WAYS } from './examples/ways.ts';

/** Up to three processes of vloc in a pipe. */
const PATIENCE_MS = 170_000;

const listed = await Promise.all(COMMANDS.map(async ({ leaf }) => (await leaf.load()).examples));
const ALL = listed.flat();

/** The built-in engines take a minute. `test/commands/engines/engines-test.e2e.test.ts` runs the same with small ones. */
const TRIALS = ['vloc engines test', 'vloc engines test recognize'];

/** `test/golden` runs all other examples in this process, and checks their exit codes and files too. */
const EXAMPLES = ALL.filter(
  ({ command }) => (needsShell(command) || isOfTheMachine(command)) && !TRIALS.includes(command),
);

const { locate } = createPrograms(process.env.PATH ?? '');

async function runLine(desk: Desk, line: string): Promise<Ended> {
  return needsShell(line) ? desk.shell(line) : desk.run(await splitWords(desk, line));
}

async function runExample(example: Example, skip: (reason: string) => never): Promise<void> {
  const way = WAYS[example.command];
  if (way?.needs !== undefined && locate(way.needs) === null) skip(`${way.reason}, and there is none here`);
  const hindrance = (await way?.hindrance?.()) ?? null;
  if (hindrance !== null) skip(hindrance);

  const desk = await openDesk();
  const line = await prepare(desk, example.command);
  const { code, stdout, stderr } = await (way?.run ?? runLine)(desk, line);
  expect(code, `${line}\n${stdout}\n${stderr}`).toBe(way?.code ?? 0);
  // Of a pipe the exit code is that of its last command; all of them say so when they fail.
  if (way?.code === undefined) expect(stderr).not.toContain('✖');
  // A filter without a matching field yields null and succeeds.
  if (example.command.includes('--jq')) expect(stdout.trim()).not.toMatch(/^(null)?$/);
  const absent = promisedFiles(example).filter((name) => !existsSync(join(desk.folder, name)));
  expect(absent, stderr).toEqual([]);
}

describe('the example', () => {
  // Not `it.for`, which cuts long titles.
  for (const example of EXAMPLES) {
    it(example.command, { timeout: PATIENCE_MS }, ({ skip }) => runExample(example, skip));
  }
});

describe('the ways to run examples', () => {
  it('are all used by existing examples', () => {
    const commands = ALL.map(({ command }) => command);
    expect(Object.keys(WAYS).filter((command) => !commands.includes(command))).toEqual([]);
  });
});
