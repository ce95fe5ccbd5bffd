import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSoftSubtitles } from '../../../src/media/subtitles/read-subtitle.ts';
import { createWork, ffmpeg, programs, SAMPLE } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

test('the subtitle track of a video is returned with its times', async () => {
  const folder = makeFolder();
  const [srt, video] = [join(folder, 'a.srt'), join(folder, 'a.mp4')];
  writeFileSync(srt, '1\n00:00:01,000 --> 00:00:02,500\nHola\nmundo\n\n');
  ffmpeg('-i', SAMPLE, '-i', srt, '-map', '0', '-map', '1', '-c', 'copy', '-c:s', 'mov_text', video);
  const lines = await readSoftSubtitles(programs, video, createWork(folder));
  expect(lines).toEqual([{ index: 1, start_ms: 1000, end_ms: 2500, text: 'Hola\nmundo' }]);
});

test('a video without one has no lines', async () => {
  expect(await readSoftSubtitles(programs, SAMPLE, createWork(makeFolder()))).toEqual([]);
});
