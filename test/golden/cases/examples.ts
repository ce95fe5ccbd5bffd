/** Every example of the help, at the desk where they run from end to end; pipes are made here, without processes of vloc. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { main } from '../../../src/cli/main.ts';
import { COMMANDS } from '../../../src/commands/tree.ts';
import type { Ended } from '../../commands/support/run-vloc.ts';
import { type Desk, isOfTheMachine, needsShell, openDesk, promisedFiles } from '../../e2e/examples/desk.ts';
import { prepare } from '../../e2e/examples/prepare.ts';
import { WAYS } from '../../e2e/examples/ways.ts';
import { until } from '../../service/harness/scene.ts';
import { createTestIo } from '../../support/test-io.ts';
import { narrow, normalize } from '../normalize.ts';
import { type Case, QUICK, sortLines, splitWords } from '../stage.ts';

/** The scripts of completion/ and the OpenAPI document are held fixed by test/docs and test/protocol. */
const GENERATED = /vloc (completion|schema(?! --output id))/;

const listed = await Promise.all(COMMANDS.map(async ({ leaf }) => (await leaf.load()).examples));

const RECORDED = listed.flat().filter(({ command }) => !isOfTheMachine(command));

/** Failures of the others are recorded elsewhere. */
export const EXAMPLES: readonly Case[] = RECORDED.map(({ command }) => ({ line: command, name: command }));
/** Redirections to files are left to the shell, where `test/e2e` runs these examples. */
const FILES = new Map(
  RECORDED.filter(({ command }) => !needsShell(command)).map((example) => [
    example.command,
    promisedFiles(example),
  ]),
);

/** Runs an example at a desk of its own. */
export async function openDesks(): Promise<(each: Case) => Promise<Ended>> {
  return async ({ line: command }) => {
    const desk = await openDesk();
    const prepared = await prepare(desk, command);
    const way = WAYS[command];
    const isStanding = /^vloc (serve($| -)|webhooks listen|localize inbox)/.test(command);
    const ended = await (isStanding && way?.run !== undefined
      ? way.run(desk, prepared)
      : runPipe(desk, prepared));
    const absent = (FILES.get(command) ?? []).filter((name) => !existsSync(join(desk.folder, name)));
    if (absent.length > 0)
      throw new Error(`${command}\nhas not written ${absent.join(', ')}\n${ended.stderr}`);
    const { key, secret } = desk.scene.credentials;
    const stdout = GENERATED.test(command) ? '(a document that is generated)\n' : ended.stdout;
    const own: [string, string][] = [
      [desk.folder, '$DIR'],
      [key, 'vk_KEY'],
      [secret, 'SECRET'],
    ];
    const clean = (text: string) => withoutMoments(narrow(normalize(text, own)), command);
    return { code: ended.code, stdout: clean(stdout), stderr: sortLines(clean(ended.stderr)) };
  };
}

/** Encoders differ between machines, and with them the sizes of videos; what is seen of work depends on the moment. */
function withoutMoments(text: string, command: string): string {
  const still = text
    .replace(/\b\d+(\.\d+)? [kM]?B\b/g, 'SIZE')
    .replace(/"size_bytes":( ?)\d+/g, '"size_bytes":$1SIZE')
    .replace(/(?<=a\.bin\t)\d+/g, 'SIZE')
    .replace(/\b[0-9a-f]{64}\b/g, 'SHA256')
    .replace(/(uploading|downloading) \d+ %.*/g, '$1')
    .replace(/^\d+\.\d+\.\d+(?= +a checkout)/m, 'VERSION')
    .replace(/\b\d+ s ago\b/g, 'now')
    .replace(/"status": "(queued|processing)"/g, '"status": "UNFINISHED"')
    .replace(/"started_at": (null|"TIME")/g, '"started_at": TIME')
    // Two are sent at a time, and the first one fails.
    .replace(/\b(lessons|out)\/[ab]\b/g, '$1/ONE');
  return command.includes('jobs wait')
    ? still.replace(/: (queued|processing( \d+ %)?|downloading)$/gm, ': UNFINISHED')
    : still;
}

/** The programs of a pipe, one after another; each gets what the one before printed. */
async function runPipe(desk: Desk, line: string): Promise<Ended> {
  const inner = /^source <\((.*)\)$/.exec(line)?.[1] ?? line;
  const input = /\s< (\S+)$/.exec(inner)?.[1];
  const parts = inner.replace(/\s[<>] \S+$|\s> "[^"]*"$/, '').match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|[^|])+/g);
  let stdin = input === undefined ? '' : await readFile(join(desk.folder, input), 'utf8');
  let last: Ended = { code: 0, stdout: '', stderr: '' };
  for (const part of parts ?? []) {
    const ended = await runPart(desk, part.trim(), stdin);
    stdin = ended.stdout;
    last = { ...ended, stderr: last.stderr + ended.stderr };
  }
  return last;
}

async function runPart(desk: Desk, part: string, stdin: string): Promise<Ended> {
  const [program, ...words] = splitWords(part.replace(/"\$(\w+)"/g, (_all, name) => desk.env[name] ?? ''));
  const printed = (stdout: string): Ended => ({ code: 0, stdout, stderr: '' });
  const lines = stdin.split('\n').filter((line) => line !== '');
  switch (program) {
    case 'vloc':
      return runWithHeld(desk, words, stdin);
    case 'cat':
      return printed(await readFile(join(desk.folder, words[0] ?? ''), 'utf8'));
    case 'pass':
      return printed(await readFile(join(desk.folder, 'secret'), 'utf8'));
    case 'grep':
      return printed(lines.filter((line) => new RegExp(words[0] ?? '').test(line)).join('\n'));
    case 'Out-String':
    case 'Invoke-Expression':
      return printed(stdin);
    case 'xargs': {
      const oneByOne = words[0] === '-n';
      const called = words.slice(words.indexOf('vloc') + 1);
      const calls = oneByOne ? lines.map((line) => [...called, line]) : [[...called, ...lines]];
      let all = printed('');
      for (const call of calls) {
        const { code, stdout, stderr } = await run(desk, call, '');
        all = { code, stdout: all.stdout + stdout, stderr: all.stderr + stderr };
      }
      return all;
    }
    default:
      throw new Error(`no example has used ${program} before`);
  }
}

async function run(desk: Desk, words: readonly string[], stdin: string): Promise<Ended> {
  const test = createTestIo({ cwd: desk.folder, env: desk.env, stdin, pace: QUICK });
  const code = await main(words, test.io);
  return { code, stdout: test.stdout(), stderr: test.stderr() };
}

/** Paused jobs continue once something waits for them. */
async function runWithHeld(desk: Desk, words: readonly string[], stdin: string): Promise<Ended> {
  const running = run(desk, words, stdin);
  if (words[0] === 'jobs' && words[1] === 'wait') {
    const before = desk.answered.length;
    await until(
      () => desk.answered.length,
      (count) => count > before,
    );
    desk.engines.letGo();
  }
  return running;
}
