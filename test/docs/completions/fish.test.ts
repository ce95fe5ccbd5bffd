/** The completions in a real fish. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EXACT, listCases, missingFrom, readOffered } from './cases.ts';
import { type Desk, missingShell, openDesk, runShell, scriptPath } from './desk.ts';

/** Some hundred completions; seconds on a machine that has nothing else to do. */
const MINUTES = 60_000;

const missing = missingShell('fish');
let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
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
  'fish offers every command, option, choice and value of this machine',
  async ({ skip }) => {
    skip(missing !== null, missing ?? '');
    const cases = await listCases();
    const offered = words(complete(cases.map(({ line }) => line)));
    expect(missingFrom(offered, cases)).toEqual([]);
    expect(offered.get('vloc jobs wait ')).toEqual(['dub_newer', 'loc_older']);
  },
  2 * MINUTES,
);

it('fish offers nothing if there are no values', ({ skip }) => {
  skip(missing !== null, missing ?? '');
  const offered = words(complete(EXACT.map(({ line }) => line)));
  for (const { line, offers } of EXACT) expect(offered.get(line), line).toEqual(offers);
});

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
  const offered = words(
    complete(['vloc localize ', 'vloc localize --out ', 'vloc webhooks verify --body ta']),
  );
  expect(offered.get('vloc localize ')).toEqual(['lessons/', 'talk.srt']);
  expect(offered.get('vloc localize --out ')).toEqual(['lessons/']);
  expect(offered.get('vloc webhooks verify --body ta')).toEqual(['talk.srt']);
});
