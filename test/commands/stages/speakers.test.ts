/** Names of speakers from the subtitles beside a video to its dub, in stages. */
import { rm, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { ffprobe } from '../../engines/workspace.ts';
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

it('a name survives fixing, translating, reviewing, dubbing and the export', async () => {
  const vloc = await startStaging();
  await writeFile(vloc.path('talk.en.vtt'), VTT);
  const fixed = await vloc.run(['subtitles', 'fix', 'talk.en.vtt', '--in-place']);
  expect(fixed.code, fixed.stderr).toBe(0);
  expect(vloc.read('talk.en.vtt')).not.toBe(VTT);
  expect(vloc.read('talk.en.vtt')).toContain('<v Anna>good morning to you\n');
  const stopped = await vloc.run([...VOICES, '--stop-after', 'translate']);
  expect(stopped.code, stopped.stderr).toBe(0);
  expect(vloc.read('talk.es.vtt')).toContain('<v Anna>GOOD MORNING TO YOU\n');
  await vloc.edit('talk.es.vtt', 'GOOD NIGHT', 'buenas noches');
  const done = await vloc.run([...VOICES, '--subtitle-output', 'soft']);
  expect(done.code, done.stderr).toBe(0);
  expect(vloc.dubbed.toSorted()).toEqual(['GOOD MORNING TO YOU', 'THIS IS NOBODY', 'buenas noches']);
  expect(await vloc.jobs()).toEqual([0, 1, 3, 1]);
  expect(vloc.read('talk.es.vtt')).toContain('<v Ben>buenas noches\n');
  // The track of a video has no place for names, and does not show them as text.
  expect(ffprobe(vloc.path('talk.es.mp4'), 'stream=codec_name')).toContain('mov_text');
  // Another speaker of the same words is another dub.
  const planned = ['--dry-run', '-o', 'json'];
  const same = await vloc.run([...VOICES, '--subtitle-output', 'soft', ...planned]);
  expect(dubOf(same.stdout)).toMatchObject({ jobs: 0, done_before: 1 });
  await vloc.edit('talk.es.vtt', '<v Anna>', '<v Ben>');
  const words = [...LOCALIZE, '--from-subtitles', '--voices', 'ben=male', ...planned];
  const other = await vloc.run(words);
  expect(dubOf(other.stdout)).toMatchObject({
    jobs: 2,
    items: [{ speakers: [{ speaker: 'Ben', cues: 2 }, { speaker: null }] }],
  });
});

const dubOf = (stdout: string) =>
  JSON.parse(stdout).stages.find(({ kind }: { kind: string }) => kind === 'dubbing');

it('--dry-run counts a job for each speaker before and after the translation', async () => {
  const vloc = await startStaging();
  await writeFile(vloc.path('talk.en.vtt'), VTT);
  const before = await vloc.run([...VOICES, '--dry-run', '-o', 'json']);
  expect(before.code, before.stderr).toBe(0);
  expect(dubOf(before.stdout)).toMatchObject({ jobs: 3, unmeasured: 1 });
  expect(before.stderr).toContain(
    '3 jobs, whose sound is mixed here: Anna (female), Ben (male), everyone else (auto)',
  );
  await vloc.run([...VOICES, '--stop-after', 'translate']);
  const after = await vloc.run([...VOICES, '--dry-run', '-o', 'json']);
  expect(dubOf(after.stdout)).toMatchObject({ jobs: 3, quantity: 3, unmeasured: 0 });
});

it.each([
  [LOCALIZE, '--voices needs subtitles that say who speaks'],
  [[...LOCALIZE, '--from-subtitles', '--mode', 'subtitles_only'], '--voices is for a dub'],
  [[...LOCALIZE.slice(0, -2), '--from-subtitles'], 'SRT has no place for the names of the translation'],
])('--voices is refused where there can be no names: %j', async (words, problem) => {
  const vloc = await startStaging();
  await writeFile(vloc.path('talk.en.vtt'), VTT);
  const { code, stderr } = await vloc.run([...words, '--voices', 'anna=female']);
  expect(stderr).toContain(problem);
  expect(code).toBe(2);
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
