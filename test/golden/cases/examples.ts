/** Every example of the help that needs no shell, at the desk where they run from end to end. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../../../src/commands/tree.ts';
import { type Desk, isOfTheMachine, needsShell, openDesk, promisedFiles } from '../../e2e/examples/desk.ts';
import { prepare } from '../../e2e/examples/prepare.ts';
import { WAYS } from '../../e2e/examples/ways.ts';
import { until } from '../../service/harness/scene.ts';
import { type Ended, runMain } from '../../support/run-main.ts';
import { narrow, normalize } from '../normalize.ts';
import { type Case, QUICK, sortLines, splitWords } from '../stage.ts';

/** The scripts of completion/ and the OpenAPI document are held fixed by test/docs and test/protocol. */
const GENERATED = /vloc (completion|schema(?! --output id))/;

const listed = await Promise.all(COMMANDS.map(async ({ leaf }) => (await leaf.load()).examples));

/** `test/e2e` runs the others. */
const RECORDED = listed.flat().filter(({ command }) => !isOfTheMachine(command) && !needsShell(command));

/** Failures of the others are recorded elsewhere. */
export const EXAMPLES: readonly Case[] = RECORDED.map(({ command }) => ({ line: command, name: command }));
const FILES = new Map(RECORDED.map((example) => [example.command, promisedFiles(example)]));

/** What only reads a batch, and the batch. */
const READS_BATCH = /^vloc batch (?:status|report) (out-1|out)\b/;

/** Runs an example at a desk of its own; those that read the same batch share one. */
export async function openDesks(): Promise<(each: Case) => Promise<Ended>> {
  const shared = new Map<string, Desk>();
  return async ({ line: command }) => {
    const batch = READS_BATCH.exec(command)?.[1];
    const earlier = shared.get(batch ?? '');
    const desk = earlier ?? (await openDesk());
    const prepared = earlier === undefined ? await prepare(desk, command) : command;
    if (batch !== undefined) shared.set(batch, desk);
    const way = WAYS[command];
    const isStanding = /^vloc (serve($| -)|webhooks listen|localize inbox)/.test(command);
    const ended = await (isStanding && way?.run !== undefined
      ? way.run(desk, prepared)
      : runWithHeld(desk, splitWords(prepared).slice(1)));
    const absent = (FILES.get(command) ?? []).filter((name) => !existsSync(join(desk.folder, name)));
    if (absent.length > 0)
      throw new Error(`${command}\nhas not written ${absent.join(', ')}\n${ended.stderr}`);
    const { key, secret } = desk.scene.credentials;
    // A hundred services that ask for work every second would take the processor from the others.
    if (batch === undefined) await desk.scene.service.close();
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
    .replace(/\b(lessons|out|texts\/[0-9a-f]{16})\/[ab]\b/g, '$1/ONE');
  return command.includes('jobs wait')
    ? still.replace(/: (queued|processing( \d+ %)?|downloading)$/gm, ': UNFINISHED')
    : still;
}

async function run(desk: Desk, words: readonly string[]): Promise<Ended> {
  return runMain(words, { cwd: desk.folder, env: desk.env, pace: QUICK });
}

/** Paused jobs continue once something waits for them. */
async function runWithHeld(desk: Desk, words: readonly string[]): Promise<Ended> {
  const running = run(desk, words);
  if (words[0] === 'jobs' && words[1] === 'wait') {
    const before = desk.answered.length;
    await until(() => desk.answered.length > before);
    desk.engines.letGo();
  }
  return running;
}
