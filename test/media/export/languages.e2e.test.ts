import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { joinLanguages } from '../../../src/media/export/languages.ts';
import { createWork, ffmpeg, ffprobe, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

const CLIP = join(import.meta.dirname, '../../fixtures/two-seconds.mp4');

test('a file with all languages of a video has the sound once if all have that of the source, and the names of the languages', async () => {
  const folder = makeFolder();
  const [video, text] = [join(folder, 'talk.mp4'), join(folder, 'talk.srt')];
  writeFileSync(text, '1\n00:00:00,100 --> 00:00:00,900\ntext\n');
  ffmpeg('-i', CLIP, '-i', text, '-c', 'copy', '-c:s', 'mov_text', video);
  const videos = ['es', 'fr'].map((language) => ({ path: video, language }));
  const path = await joinLanguages(programs, videos, true, createWork(folder));
  const entries = 'stream_disposition=default:stream_tags=language,handler_name';
  expect(ffprobe(path, entries).split('\n')).toEqual([
    ...['1', 'und', 'VideoHandler', '1', 'und', 'SoundHandler'],
    ...['1', 'spa', 'Spanish', '0', 'fra', 'French'],
  ]);
});
