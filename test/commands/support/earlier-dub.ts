/** A dub that was made before, for commands that go by the rate of its voice. */
import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openJobRecord } from '../../../src/batch/records/job-record.ts';
import { silentWav } from '../../support/wav.ts';
import { srtCue } from '../subtitles/desk.ts';

/** As `silentWav` writes. */
const RATE = 8_000;
const HEAD_BYTES = 44;
/** 30 characters. */
export const TEXT = 'Treinta letras son dos tramos.';

/** A track with a tone for each of these seconds. */
function toneWav(seconds: number, tones: readonly (readonly [from: number, to: number])[]): Buffer {
  const wav = silentWav(seconds);
  for (const [from, to] of tones)
    for (let at = from * RATE; at < to * RATE; at += 1)
      wav.writeInt16LE(Math.round(8000 * Math.sin(at / 3)), HEAD_BYTES + 2 * at);
  return wav;
}

/** Records a dub into Spanish whose voice speaks 10 characters a second. */
export async function recordDub(folder: string, stateFolder: string, voice_mode = 'auto'): Promise<void> {
  // The fifth cue fills its time, so it and its neighbours may have been hurried.
  const cues = [
    srtCue(1, 1, 5.5, TEXT) + srtCue(2, 6, 10, TEXT) + srtCue(3, 11, 12, '♪'),
    srtCue(4, 13, 17, TEXT) + srtCue(5, 18, 21, TEXT.repeat(3)) + srtCue(6, 21, 25, TEXT.repeat(2)),
  ].join('');
  const subtitle = join(folder, 'earlier.es.srt');
  await writeFile(subtitle, cues);
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
  const jobs = openJobRecord(stateFolder, 'service', Date.now);
  await jobs.add({
    ...{ id: 'dub_1', kind: 'dubbing', created_at: new Date().toISOString(), client_reference: null },
    ...{ command: 'dub', inputs: ['earlier.es.srt'], output_folder: folder, input_files: [subtitle] },
    speech: { language: 'es', voice_mode },
  });
  await jobs.markDownloaded('dub_1', [wav]);
}
