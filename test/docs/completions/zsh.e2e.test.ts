/** The completions in a real, interactive zsh. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkLines, MINUTES, openPackedDesk, readOffered } from './cases.ts';
import { type Desk, missingShell, runShell, scriptPath } from './desk.ts';

const CAPTURE = fileURLToPath(new URL('capture.zsh', import.meta.url));

const missing = missingShell('zsh');
let desk: Desk;
beforeAll(async () => {
  desk = await openPackedDesk();
});
afterAll(() => desk.remove());

function complete(lines: readonly string[]): Map<string, string[]> {
  return readOffered(runShell(desk, 'zsh', ['-f', CAPTURE, scriptPath('_vloc'), ...lines]));
}

it(
  'zsh offers commands, options, choices and values of this machine, and nothing else',
  async ({ skip }) => {
    skip(missing !== null, missing ?? '');
    await checkLines(async (lines) => complete(lines));
  },
  2 * MINUTES,
);

it('zsh completes files and folders if they are expected', ({ skip }) => {
  skip(missing !== null, missing ?? '');
  const lines = {
    'vloc localize t': ['talk.srt'],
    'vloc localize my': ['my\\ file.srt'],
    'vloc localize --out ': ['lessons'],
    'vloc webhooks verify --body=ta': ['--body=talk.srt'],
    'vloc localize --body @ta': ['@talk.srt'],
    'vloc upload t': ['talk.srt'],
    'vloc upload l': ['lessons', 'list'],
  };
  const offered = complete(Object.keys(lines));
  const sorted = [...offered].map(([line, each]) => [line, [...new Set(each)].toSorted()]);
  expect(Object.fromEntries(sorted)).toEqual(lines);
});

it('zsh also loads the script from a folder of its function path', ({ skip }) => {
  skip(missing !== null, missing ?? '');
  const folder = scriptPath('').replace(/\/$/, '');
  const script = `fpath=('${folder}' $fpath); autoload -Uz compinit && compinit -u -D; print -r -- $_comps[vloc]; whence -w _vloc`;
  expect(runShell(desk, 'zsh', ['-f', '-c', script])).toBe('_vloc\n_vloc: function\n');
});
