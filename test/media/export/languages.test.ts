import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { joinLanguages } from '../../../src/media/export/languages.ts';
import { createWork, ffmpeg, ffprobe, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

test('a file with all languages of a video has the sound once if all have that of the source, and the names of the languages', async () => {
  const folder = makeFolder();
  const videos = ['es', 'fr'].map((language) => {
    const [path, text] = [join(folder, `talk.${language}.mp4`), join(folder, `${language}.srt`)];
    writeFileSync(text, `1\n00:00:00,100 --> 00:00:00,900\nin ${language}\n`);
    const inputs = [
      '-f',
      'lavfi',
      '-i',
      'testsrc=s=64x48:r=5:d=1',
      '-f',
      'lavfi',
      '-i',
      'sine=d=1',
      '-i',
      text,
    ];
    ffmpeg(...inputs, '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', '-c:s', 'mov_text', path);
    return { path, language };
  });
  const path = await joinLanguages(programs, videos, true, createWork(folder));
  const entries = 'stream_disposition=default:stream_tags=language,handler_name';
  expect(ffprobe(path, entries).split('\n')).toEqual([
    ...['1', 'und', 'VideoHandler', '1', 'und', 'SoundHandler'],
    ...['1', 'spa', 'Spanish', '0', 'fra', 'French'],
  ]);
});
