import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEINTERLACE } from '../../../src/media/encode/encoders.ts';
import { copyOptions } from '../../../src/media/encode/picture.ts';
import {
  exportLocalized,
  exportVideo,
  softLines,
  threeLetterCode,
} from '../../../src/media/export/export.ts';
import { createPrograms } from '../../../src/media/programs/programs.ts';
import { createWork, SAMPLE } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';

const subtitle = { language: 'es', lines: [{ index: 1, start_ms: 500, end_ms: 2_500, text: 'Hola' }] };

/** Programs whose ffmpeg writes down what it is asked for, and fails with these words. */
function failing(folder: string, words: string) {
  const script = `#!/bin/sh\necho "$*" > asked\necho '${words}' >&2\nexit 1\n`;
  writeFileSync(join(folder, 'ffmpeg'), script, { mode: 0o755 });
  return createPrograms(`${folder}:${rememberingPath()}`);
}

test('a failure of ffmpeg is reported with advice', async () => {
  const folder = makeFolder();
  const parts = { video: SAMPLE, track: null, dub: null, background: null, subtitle };
  const options = { subtitleOutput: 'soft', originalAudio: 'mute', resolution: 'source' } as const;
  const failed = exportLocalized(failing(folder, 'broken'), parts, options, createWork(folder));
  await expect(failed).rejects.toMatchObject({ code: 'PROGRAM_FAILED', advice: expect.stringMatching(/\w/) });
});

test('a picture that is encoded becomes progressive, and an encoder that runs out of memory is not tried again', async () => {
  const folder = makeFolder();
  // The words of x264 in 600 MiB of address space.
  const small = failing(folder, 'x264 [error]: malloc of size 7088768 failed');
  const task = {
    video: SAMPLE,
    sound: { type: 'original' },
    subtitle,
    subtitleOutput: 'burned',
    resolution: 'source',
  } as const;
  await expect(exportVideo(small, task, createWork(folder))).rejects.toMatchObject({
    code: 'MEDIA_UNSUPPORTED',
    retryable: false,
    message: expect.stringContaining('choose a lower resolution'),
  });
  expect(readFileSync(join(folder, 'asked'), 'utf8')).toContain(` -filter:v:0 ${DEINTERLACE},scale=`);
});

test('a picture of AVI without reordered frames is copied without more options', () => {
  const plain = copyOptions('avi', { codec: 'h264', isReordered: false });
  expect(plain).toEqual({ input: [], output: [] });
});

test('every code means the language that it is listed for', () => {
  expect(['es-419', 'zh-Hans', 'yue', 'x'].map(threeLetterCode)).toEqual(['spa', 'zho', 'yue', 'und']);
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const tags = letters.flatMap((first) => letters.map((second) => first + second));
  const known = tags.map((tag) => [tag, threeLetterCode(tag)] as const).filter(([, code]) => code !== 'und');
  expect(known.length).toBeGreaterThan(100);
  // BCP 47 writes a language with two letters where there are two: the three lead back to them.
  for (const [tag, code] of known) {
    expect(new Intl.Locale(code).language).toBe(new Intl.Locale(tag).language);
  }
});

test('lines end with the video at the latest, those after its end are omitted, and so is markup that players would show as text', () => {
  const line = (index: number, start_ms: number, end_ms: number) => ({
    index,
    start_ms,
    end_ms,
    text: '<i>a</i>',
  });
  expect(softLines([line(1, 0, 900), line(2, 950, 3000), line(3, 1000, 2000)], 1.0005)).toEqual([
    { index: 1, start_ms: 0, end_ms: 900, text: 'a' },
    { index: 2, start_ms: 950, end_ms: 1000, text: 'a' },
  ]);
});
