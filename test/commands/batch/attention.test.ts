/** `batch report --attention` and `batch status --fail-on attention` on real folders of results. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runMain } from '../../support/run-main.ts';
import { srtCue } from '../subtitles/desk.ts';
import { recordDub, TEXT } from '../support/earlier-dub.ts';
import { startVloc } from '../support/run-vloc.ts';

const SRT = `1
00:00:00,000 --> 00:00:02,000
It was built in 1984.

2
00:00:02,000 --> 00:00:04,000
Then Anna Karenina came in 1999.
`;

async function startBatch() {
  const vloc = await startVloc();
  await writeFile(join(vloc.folder, 'a.srt'), SRT);
  const { code, stderr } = await vloc.run([
    'translate',
    'a.srt',
    '--from',
    'en',
    '--to',
    'es',
    '--out',
    'out',
  ]);
  expect(code, stderr).toBe(0);
  return vloc;
}

test('an edited file is read again: with row, time and reasons, most reasons first, and the exit code 3', async () => {
  const vloc = await startBatch();
  const path = join(vloc.folder, 'out', 'a.es.srt');
  const fixed = SRT.replace('It was built in 1984.', 'Se construyó entonces.').replace(
    'Then Anna Karenina came in 1999.',
    'Luego vino ella.',
  );
  await writeFile(path, fixed);
  const { code, stdout, stderr } = await vloc.run(['batch', 'report', 'out', '--attention']);
  expect([code, stderr]).toEqual([0, expect.stringContaining('2 cues in 1 result need a person.')]);
  expect(stdout.trim().split('\n')).toEqual([
    'out/a.es.srt:6: 00:00:02,000 NUMBER: "1999" is not in the translation',
    'out/a.es.srt:6: 00:00:02,000 NAME: "Anna Karenina" is not in the translation',
    'out/a.es.srt:2: 00:00:00,000 NUMBER: "1984" is not in the translation',
  ]);
  const json = JSON.parse((await vloc.run(['batch', 'report', 'out', '--attention', '-o', 'json'])).stdout);
  expect(json.places).toEqual([
    expect.objectContaining({ cue: 2 }),
    {
      ...{ item: 'a.srt → es', language: 'es', file: path, row: 2, cue: 1, start_ms: 0 },
      ...{ source: 'It was built in 1984.', text: 'Se construyó entonces.' },
      reasons: [{ code: 'NUMBER', detail: '"1984" is not in the translation' }],
    },
  ]);
  const status = await vloc.run(['batch', 'status', 'out', '--fail-on', 'attention']);
  expect([status.code, status.stderr]).toEqual([
    3,
    expect.stringContaining('vloc batch report out --attention'),
  ]);
  await writeFile(
    path,
    (await readFile(path, 'utf8')).replace('entonces', 'en 1984').replace('ella', 'Anna Karenina en 1999'),
  );
  expect((await vloc.run(['batch', 'status', 'out', '--fail-on', 'attention'])).code).toBe(0);
});

test('a text that a dub cannot say in time needs a person before the dub is paid', async () => {
  const vloc = await startBatch();
  await recordDub(vloc.folder, vloc.env.VLOC_STATE_DIR ?? '');
  const path = join(vloc.folder, 'out', 'a.es.srt');
  await writeFile(
    path,
    srtCue(1, 0, 2, 'Se construyó en 1984.') + srtCue(2, 2, 4.2, `${TEXT} Anna Karenina 1999`),
  );
  const { stdout } = await vloc.run(['batch', 'report', 'out', '--attention'], {
    env: { PATH: process.env.PATH ?? '' },
  });
  expect(stdout.trim()).toBe(
    'out/a.es.srt:6: 00:00:02,000 SPEECH: needs 4.9 s, has 3.7 s: shorten by 12 characters',
  );
});

test('in a JUnit report, items fail for what needs a person only if asked for', async () => {
  const vloc = await startBatch();
  const path = join(vloc.folder, 'out', 'a.es.srt');
  await writeFile(path, SRT.replace('It was built in 1984.', 'Se <construyó>\u001b entonces.'));
  const words = ['batch', 'report', 'out', '--format', 'junit'];
  expect((await vloc.run(words)).stdout).toContain('tests="1" failures="0"');
  const { stdout } = await vloc.run([...words, '--attention']);
  expect(stdout).toContain('<testsuites name="vloc" tests="1" failures="1"');
  expect(stdout).toContain(
    `<failure type="NEEDS_ATTENTION" message="2 places need a person">a.es.srt:2: 00:00:00,000 NUMBER: &quot;1984&quot; is not in the translation
a.es.srt:6: 00:00:02,000 EQUAL: its translation is the same as the original</failure>`,
  );
});

test('it has no page of its own', async () => {
  const { code, stderr } = await runMain(['batch', 'report', 'out', '--attention', '--html']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--attention prints its own list')]);
});
