import * as readline from 'node:readline';
import { PassThrough } from 'node:stream';
import chalk from 'chalk';
import { expect, it, onTestFinished } from 'vitest';
import { createLiveProgress } from '../../../src/cli/terminal/live-progress.ts';
import { loadStyle } from '../../../src/cli/terminal/style.ts';
import { createTestIo } from '../../support/test-io.ts';
import { createTerminalIo } from '../support/terminal-io.ts';

/** A terminal as ora moves in it. */
function openTerminal(columns = 100) {
  const { io, style, screen } = createTerminalIo(columns);
  const { stderr } = io;
  const stream = stderr as NodeJS.WritableStream;
  Object.assign(stderr, {
    cursorTo: (column: number) => readline.cursorTo(stream, column),
    clearLine: () => readline.clearLine(stream, 0),
    moveCursor: (right: number, down: number) => readline.moveCursor(stream, right, down),
  });
  return { progress: createLiveProgress(io, style), rows: () => screen.rows().filter((row) => row !== '') };
}

const PHASES = ['uploading', 'queued', 'separating', 'recognizing', 'translating', 'dubbing', 'downloading'];

it('a localization into two languages leaves a line for each, and none for its stages', () => {
  const { progress, rows } = openTerminal();
  for (const [at, phase] of PHASES.entries()) {
    // The stages of two languages end in any order.
    const keys = at % 2 === 0 ? ['talk.mp4 → es', 'talk.mp4 → ca'] : ['talk.mp4 → ca', 'talk.mp4 → es'];
    for (const key of keys) progress.show(key, { phase, fraction: 0.5 });
  }
  progress.end('talk.mp4 → ca', 'done', 'out/talk.ca.mp4');
  progress.end('talk.mp4 → es', 'failed', 'the service had no room');
  progress.close();
  expect(rows()).toEqual(['✔ talk.mp4 → ca  out/talk.ca.mp4', '✖ talk.mp4 → es  the service had no room']);
});

it.each([40, 80, 100])('a row names its item and its stage at %d columns', (columns) => {
  const { progress, rows } = openTerminal(columns);
  progress.show('lessons/week1/introduction.mp4 → es', { phase: 'recognizing', fraction: 0.5 });
  expect(rows().join('\n')).toMatch(/lessons.*→ es {2}.*recognizing 50 %$/);
  expect(rows()).toHaveLength(1);
  progress.close();
});

/** The sequence of a colour or a weight, after its escape character; the others move the cursor. */
const COLOUR = /\[[\d;]*m/;

/** What a run draws on a terminal of 80 columns. */
async function draw(env: Record<string, string>, color: 'auto' | 'always' | 'never'): Promise<string> {
  const chunks: string[] = [];
  const terminal = { isTTY: true, columns: 80, rows: 24, clearLine() {}, cursorTo() {}, moveCursor() {} };
  const stderr = Object.assign(new PassThrough(), terminal).setEncoding('utf8');
  stderr.on('data', (chunk: string) => chunks.push(chunk));
  const io = { ...createTestIo({ env }).io, stderr };
  const progress = createLiveProgress(io, await loadStyle(io, color));
  progress.show('talk.mp4', { phase: 'uploading', fraction: 0.5 });
  progress.show('talk.mp4', { phase: 'separating', fraction: null });
  progress.end('talk.mp4', 'done', '2 files');
  progress.close();
  return chunks.join('');
}

it.each([
  [{ NO_COLOR: '1' }, 'auto'],
  [{}, 'never'],
] as const)('the spinner has no colour with %j and --color %s', async (env, color) => {
  // The decision of the libraries that draw, by the streams of the process.
  const { level } = chalk;
  onTestFinished(() => {
    chalk.level = level;
  });
  chalk.level = 1;
  expect(await draw(env, color)).toContain('talk.mp4');
  expect(await draw(env, color)).not.toMatch(COLOUR);
  expect(await draw({}, 'always')).toMatch(COLOUR);
});
