/** Rule SPEECH: what a dub cannot say in time, by the dubs that were made before. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { recordDub, TEXT } from '../support/earlier-dub.ts';
import { openSubtitlesDesk, srtCue } from './desk.ts';

const speechOf = ({ stdout }: { readonly stdout: string }) =>
  stdout.split('\n').filter((line) => line.includes(' SPEECH '));

test('a cue that is too long to speak is reported with the seconds and the characters to leave out', async () => {
  const desk = await openSubtitlesDesk();
  await recordDub(desk.folder, join(desk.folder, 'state'));
  const text = srtCue(1, 1, 3, 'Corto.') + srtCue(2, 3, 5.2, TEXT) + srtCue(3, 5.3, 8, TEXT);
  await desk.write('talk.es.srt', text);
  expect(speechOf(await desk.run('check', 'talk.es.srt'))).toEqual([
    'talk.es.srt:6: 00:00:03,000 SPEECH needs 3.0 s, has 2.2 s: shorten by 8 characters; by 10.0 characters/s of earlier dubs in Spanish',
  ]);
});

test('without an earlier dub of the language and voice, only a planned voice is checked, by a default that is named', async () => {
  const desk = await openSubtitlesDesk();
  await recordDub(desk.folder, join(desk.folder, 'state'), 'male');
  await desk.write('talk.es.srt', srtCue(1, 1, 1.5, TEXT) + srtCue(2, 2, 4, 'Fin.'));
  expect(speechOf(await desk.run('check', 'talk.es.srt'))).toEqual([]);
  expect(speechOf(await desk.run('check', 'talk.es.srt', '--voice-mode', 'female'))).toEqual([
    'talk.es.srt:2: 00:00:01,000 SPEECH needs 1.7 s, has 1.2 s: shorten by 10 characters; by 17.3 characters/s, the default for Spanish, as no earlier dub could be measured',
  ]);
  expect(speechOf(await desk.run('check', 'talk.es.srt', '--voice-mode', 'male'))[0]).toMatch(/needs 3\.0 s/);
});
