/** `batch report --attention --listen --back`: what is paid, what is not, and what is found. */
import { readdir, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { runMain } from '../../support/run-main.ts';
import { createTestIo } from '../../support/test-io.ts';
import { startStaging } from '../stages/staging.ts';
import { srtCue } from '../subtitles/desk.ts';
import { QUICK } from '../support/run-vloc.ts';

const SRT =
  srtCue(1, 0, 1, 'The bridge was built long ago.') + srtCue(2, 1, 2, 'The river is wide and slow.');
const REPORT = ['batch', 'report', 'out', '--attention'];

test('each translation is translated back and paid once: only an edited text is paid again', async () => {
  const vloc = await startStaging();
  await writeFile(vloc.path('talk.srt'), SRT);
  const made = await vloc.run(['translate', 'talk.srt', '--from', 'en', '--to', 'es', '--out', 'out']);
  expect(made.code, made.stderr).toBe(0);
  const translations = async () => (await vloc.jobs())[1];
  const json = await vloc.run([...REPORT, '--back', '--dry-run', '-o', 'json']);
  expect(JSON.parse(json.stdout).plans).toEqual([expect.objectContaining({ jobs: 1, quantity: 2 })]);
  expect(await translations()).toBe(1);

  await vloc.edit('out/talk.es.srt', 'THE RIVER IS WIDE AND SLOW.', 'Siete lámparas viejas y más.');
  const { code, stdout, stderr } = await vloc.run([...REPORT, '--back']);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain('BACK: translated back, it is "SIETE LÁMPARAS VIEJAS Y MÁS."');
  expect(stdout.match(/BACK/g)).toHaveLength(1);
  expect(await translations()).toBe(2);
  expect((await vloc.run([...REPORT, '--back'])).stdout).toBe(stdout);
  expect(await translations()).toBe(2);
  expect(await readdir(vloc.path('out'))).toEqual(['.vloc', 'talk.es.srt']);
  await vloc.edit('out/talk.es.srt', 'Siete', 'Ocho');
  await vloc.run([...REPORT, '--back']);
  expect(await translations()).toBe(3);
});

test('each dub is recognized once, and its words are compared with its cues', async () => {
  const vloc = await startStaging();
  // The recognizer of this test hears "good morning" and "and good night".
  const text = srtCue(1, 0, 1, 'Uno dos tres.') + srtCue(2, 1, 2, 'And a good night.');
  await writeFile(vloc.path('talk.en.srt'), text);
  const made = await vloc.run(['dub', 'talk.en.srt', '--to', 'en', '--out', 'out']);
  expect(made.code, made.stderr).toBe(0);
  const plan = await vloc.run([...REPORT, '--listen', '--dry-run']);
  expect([plan.code, plan.stderr]).toEqual([0, expect.stringContaining('New jobs: 1')]);
  for (let run = 0; run < 2; run += 1) {
    const { code, stdout, stderr } = await vloc.run([...REPORT, '--listen']);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^talk\.en\.srt:2: 00:00:00,000 HEARD: ".*" is heard instead\n$/);
    expect((await vloc.jobs())[0]).toBe(1);
  }
});

test('an interrupted run is continued by the same command, and paid once', async () => {
  const vloc = await startStaging();
  await writeFile(vloc.path('talk.srt'), SRT);
  await vloc.run(['translate', 'talk.srt', '--from', 'en', '--to', 'es', '--out', 'out']);
  vloc.engines.hold();
  const { io, send } = createTestIo({ cwd: vloc.folder, env: vloc.env, pace: QUICK });
  const stopped = main([...REPORT, '--back'], io);
  await expect.poll(async () => (await vloc.jobs())[1]).toBe(2);
  send('SIGINT');
  expect(await stopped).toBe(130);
  vloc.engines.letGo();
  expect((await vloc.run([...REPORT, '--back'])).code).toBe(0);
  expect((await vloc.jobs())[1]).toBe(2);
});

test.each([
  [['--back'], '--listen and --back need --attention'],
  [['--attention', '--dry-run'], '--dry-run needs --listen or --back'],
])('%j is refused before anything is sent', async (words, message) => {
  const { code, stderr } = await runMain(['batch', 'report', 'out', ...words]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});
