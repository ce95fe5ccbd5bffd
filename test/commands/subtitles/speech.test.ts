/** Rule SPEECH: what a dub cannot say in time, by the dubs that were made before. */
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openJobRecord } from '../../../src/batch/records/job-record.ts';
import { silentWav } from '../../support/wav.ts';
import { openSubtitlesDesk, type SubtitlesDesk, srtCue } from './desk.ts';

/** As `silentWav` writes. */
const RATE = 8_000;
const HEAD_BYTES = 44;
/** 30 characters. */
const TEXT = 'Treinta letras son dos tramos.';

/** A track with a tone for each of these seconds. */
function toneWav(seconds: number, tones: readonly (readonly [from: number, to: number])[]): Buffer {
  const wav = silentWav(seconds);
  for (const [from, to] of tones)
    for (let at = from * RATE; at < to * RATE; at += 1)
      wav.writeInt16LE(Math.round(8000 * Math.sin(at / 3)), HEAD_BYTES + 2 * at);
  return wav;
}

/** Records a dub whose voice speaks 10 characters a second. */
async function recordDub({ folder, write }: SubtitlesDesk, voice_mode = 'auto'): Promise<void> {
  // The fifth cue fills its time, so it and its neighbours may have been hurried.
  const cues = [
    srtCue(1, 1, 5.5, TEXT) + srtCue(2, 6, 10, TEXT) + srtCue(3, 11, 12, '♪'),
    srtCue(4, 13, 17, TEXT) + srtCue(5, 18, 21, TEXT.repeat(3)) + srtCue(6, 21, 25, TEXT.repeat(2)),
  ].join('');
  const subtitle = await write('earlier.es.srt', cues);
  await utimes(subtitle, 0, 0);
  const wav = join(folder, 'earlier.es.wav');
  const tones = [
    [1, 4],
    [6, 9],
    [13, 15],
    [18, 20.9],
    [21, 23],
  ] as const;
  await writeFile(wav, toneWav(26, tones));
  const jobs = openJobRecord(join(folder, 'state'), 'service', Date.now);
  await jobs.add({
    ...{ id: 'dub_1', kind: 'dubbing', created_at: new Date().toISOString(), client_reference: null },
    ...{ command: 'dub', inputs: ['earlier.es.srt'], output_folder: folder, input_files: [subtitle] },
    speech: { language: 'es', voice_mode },
  });
  await jobs.markDownloaded('dub_1', [wav]);
}

const speechOf = ({ stdout }: { readonly stdout: string }) =>
  stdout.split('\n').filter((line) => line.includes(' SPEECH '));

test('a cue that is too long to speak is reported with the seconds and the characters to leave out', async () => {
  const desk = await openSubtitlesDesk();
  await recordDub(desk);
  const text = srtCue(1, 1, 3, 'Corto.') + srtCue(2, 3, 5.2, TEXT) + srtCue(3, 5.3, 8, TEXT);
  await desk.write('talk.es.srt', text);
  expect(speechOf(await desk.run('check', 'talk.es.srt'))).toEqual([
    'talk.es.srt:6: 00:00:03,000 SPEECH needs 3.0 s, has 2.2 s: shorten by 8 characters; by 10.0 characters/s of earlier dubs in Spanish',
  ]);
});

test('without an earlier dub of the language and voice, only a planned voice is checked, by a default that is named', async () => {
  const desk = await openSubtitlesDesk();
  await recordDub(desk, 'male');
  await desk.write('talk.es.srt', srtCue(1, 1, 1.5, TEXT) + srtCue(2, 2, 4, 'Fin.'));
  expect(speechOf(await desk.run('check', 'talk.es.srt'))).toEqual([]);
  expect(speechOf(await desk.run('check', 'talk.es.srt', '--voice-mode', 'female'))).toEqual([
    'talk.es.srt:2: 00:00:01,000 SPEECH needs 1.7 s, has 0.9 s: shorten by 15 characters; by 17.3 characters/s, the default for Spanish, as no earlier dub could be measured',
  ]);
  expect(speechOf(await desk.run('check', 'talk.es.srt', '--voice-mode', 'male'))[0]).toMatch(/needs 3\.0 s/);
});
