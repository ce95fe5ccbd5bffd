/** The completions in a real fish. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkLines, MINUTES, openPackedDesk, readOffered } from './cases.ts';
import { type Desk, missingShell, runShell, scriptPath } from './desk.ts';

const missing = missingShell('fish');
let desk: Desk;
beforeAll(async () => {
  desk = await openPackedDesk();
});
afterAll(() => desk.remove());

const SCRIPT = `source ${scriptPath('vloc.fish')}; for line in $argv; echo COMPLETED $line; complete -C $line; end`;

/** With their descriptions, as `complete -C` prints them. */
function complete(lines: readonly string[]): Map<string, string[]> {
  return readOffered(runShell(desk, 'fish', ['--no-config', '-c', SCRIPT, ...lines]));
}

function words(offered: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  return new Map([...offered].map(([line, rows]) => [line, rows.map((row) => row.split('\t')[0] ?? '')]));
}

it(
  'fish offers commands, options, choices and values of this machine, and nothing else',
  async ({ skip }) => {
    skip(missing !== null, missing ?? '');
    await checkLines(async (lines) => words(complete(lines)));
  },
  2 * MINUTES,
);

it('fish shows a description beside each candidate', ({ skip }) => {
  skip(missing !== null, missing ?? '');
  const lines = ['vloc loc', 'vloc localize --ti', 'vloc jobs wait d', 'vloc localize --to e'];
  const offered = complete(lines);
  expect(offered.get('vloc loc')).toEqual(['localize\ttranslate and dub whole videos']);
  expect(offered.get('vloc localize --ti')?.[0]).toMatch(/^--timeout\tstop waiting/);
  expect(offered.get('vloc jobs wait d')).toEqual(['dub_newer\tdubbing, queued, talk.mp4']);
  expect(offered.get('vloc localize --to e')).toContain('es\tSpanish');
});

it('fish completes files and folders if they are expected', ({ skip }) => {
  skip(missing !== null, missing ?? '');
  const lines = {
    'vloc localize ': ['lessons/', 'my file.srt', 'talk.srt'],
    'vloc localize "my fi': ['my file.srt'],
    'vloc localize --out ': ['lessons/'],
    'vloc webhooks verify --body=ta': ['--body=talk.srt'],
    'vloc localize --body @ta': ['@talk.srt'],
    'vloc upload t': ['talk.srt'],
    'vloc upload l': ['lessons/', 'list'],
  };
  const offered = words(complete(Object.keys(lines)));
  expect(Object.fromEntries([...offered].map(([line, each]) => [line, each.toSorted()]))).toEqual(lines);
});
