/** The completions in a real, interactive zsh. */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXACT, listCases, missingFrom, readOffered } from './cases.ts';
import { type Desk, missingShell, openDesk, runShell, scriptPath } from './desk.ts';

const CAPTURE = fileURLToPath(new URL('capture.zsh', import.meta.url));

/** Some hundred completions; seconds on a machine that has nothing else to do. */
const MINUTES = 60_000;

const missing = missingShell('zsh');
let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.remove());

function complete(lines: readonly string[]): Map<string, string[]> {
  return readOffered(runShell(desk, 'zsh', ['-f', CAPTURE, scriptPath('_vloc'), ...lines]));
}

it(
  'zsh offers every command, option, choice and value of this machine',
  async ({ skip }) => {
    skip(missing !== null, missing ?? '');
    const cases = await listCases();
    const offered = complete(cases.map(({ line }) => line));
    expect(missingFrom(offered, cases)).toEqual([]);
    expect(offered.get('vloc jobs wait ')).toEqual(['dub_newer', 'loc_older']);
  },
  2 * MINUTES,
);

it('zsh offers nothing if there are no values', ({ skip }) => {
  skip(missing !== null, missing ?? '');
  const offered = complete(EXACT.map(({ line }) => line));
  for (const { line, offers } of EXACT) expect(offered.get(line), line).toEqual(offers);
});

it('zsh completes files and folders if they are expected', ({ skip }) => {
  skip(missing !== null, missing ?? '');
  const offered = complete(['vloc localize t', 'vloc localize --out ', 'vloc upload t']);
  expect(offered.get('vloc localize t')).toEqual(['talk.srt']);
  expect(new Set(offered.get('vloc localize --out '))).toEqual(new Set(['lessons']));
  expect(offered.get('vloc upload t')).toEqual(['talk.srt']);
});

it('zsh also loads the script from a folder of its function path', ({ skip }) => {
  skip(missing !== null, missing ?? '');
  const folder = scriptPath('').replace(/\/$/, '');
  const script = `fpath=('${folder}' $fpath); autoload -Uz compinit && compinit -u -D; print -r -- $_comps[vloc]; whence -w _vloc`;
  expect(runShell(desk, 'zsh', ['-f', '-c', script])).toBe('_vloc\n_vloc: function\n');
});
