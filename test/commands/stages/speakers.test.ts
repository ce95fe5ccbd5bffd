/** Names of speakers from the subtitles beside a video to the plan of its dub, in stages. */
import { rm, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { startStaging } from './staging.ts';

const VTT = `WEBVTT

00:00.000 --> 00:00.800
<v Anna>good morning to you

00:00.800 --> 00:01.600
<v Ben>good night

00:01.600 --> 00:02.400
this is nobody
`;
const LOCALIZE = ['localize', 'talk.mp4', '--from', 'en', '--to', 'es', '--subtitle-format', 'vtt'];
const VOICES = [...LOCALIZE, '--from-subtitles', '--voices', 'anna=female,ben=male'];

const dubOf = (stdout: string) =>
  JSON.parse(stdout).stages.find(({ kind }: { kind: string }) => kind === 'dubbing');

it('names survive the translation, and --dry-run counts a job for each speaker before and after it', async () => {
  const vloc = await startStaging();
  await writeFile(vloc.path('talk.en.vtt'), VTT);
  const plan = async () => {
    const planned = await vloc.run([...VOICES, '--dry-run', '-o', 'json']);
    expect(planned.code, planned.stderr).toBe(0);
    return planned;
  };
  const before = await plan();
  expect(dubOf(before.stdout)).toMatchObject({ jobs: 3, unmeasured: 1 });
  expect(before.stderr).toContain(
    '3 jobs, whose sound is mixed here: Anna (female), Ben (male), everyone else (auto)',
  );
  const stopped = await vloc.run([...VOICES, '--stop-after', 'translate']);
  expect(stopped.code, stopped.stderr).toBe(0);
  expect(vloc.read('talk.es.vtt')).toContain('<v Anna>GOOD MORNING TO YOU\n');
  expect(dubOf((await plan()).stdout)).toMatchObject({ jobs: 3, quantity: 3, unmeasured: 0 });
});

it('--voices is refused where there can be no names', async () => {
  const vloc = await startStaging();
  await writeFile(vloc.path('talk.en.vtt'), VTT);
  for (const [words, problem] of [
    [LOCALIZE, '--voices needs subtitles that say who speaks'],
    [[...LOCALIZE, '--from-subtitles', '--mode', 'subtitles_only'], '--voices is for a dub'],
    [[...LOCALIZE.slice(0, -2), '--from-subtitles'], 'SRT has no place for the names of the translation'],
  ] as const) {
    const { code, stderr } = await vloc.run([...words, '--voices', 'anna=female']);
    expect(stderr).toContain(problem);
    expect(code).toBe(2);
  }
  expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
});

it('a video without names, and a name that no subtitles have, are refused before anything is sent', async () => {
  const vloc = await startStaging();
  const none = await vloc.run(VOICES);
  expect([none.code, none.stderr]).toEqual([
    2,
    expect.stringContaining('has no subtitles that say who speaks'),
  ]);
  await writeFile(vloc.path('talk.en.vtt'), VTT);
  const wrong = await vloc.run([...VOICES.slice(0, -1), 'anne=female']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean Anna?')]);
  await rm(vloc.path('talk.en.vtt'));
  expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
});
