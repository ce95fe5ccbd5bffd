import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSubtitlesDesk, srtCue } from './desk.ts';

const CUES = srtCue(1, 1, 2, 'Hola.') + srtCue(2, 4, 6, 'Una segunda frase.');

async function openWithVideo(size: string) {
  const desk = await openSubtitlesDesk();
  await desk.write('talk.es.srt', CUES);
  const picture = `color=c=0x808080:s=${size}:r=2:d=6`;
  const file = join(desk.folder, 'talk.mp4');
  // Grey, so that letters and boxes differ from it.
  execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', picture, '-c:v', 'mpeg4', file]);
  return desk;
}

/** Rows of a PNG that are not grey, as shares of its height; with its size, which its head has. */
function inkOf(path: string) {
  const head = readFileSync(path);
  const [width, height] = [head.readUInt32BE(16), head.readUInt32BE(20)];
  const args = ['-v', 'error', '-i', path, '-f', 'rawvideo', '-pix_fmt', 'gray', '-'];
  const bytes = execFileSync('ffmpeg', args, { maxBuffer: 2 ** 24 });
  const found = [...bytes.entries()].filter(([, value]) => Math.abs(value - (bytes[0] ?? 0)) > 30);
  const rows = found.map(([at]) => Math.floor(at / width));
  return { width, height, top: Math.min(...rows) / height, bottom: Math.max(...rows) / height };
}

test('a PNG shows the cue of that time where the style puts it, and free', async () => {
  const { run, write, folder } = await openWithVideo('320x180');
  const words = ['preview', 'talk.es.srt', '--video', 'talk.mp4'];
  const ended = await run(...words, '--at', '5', '-o', 'json');
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.stdout)).toEqual({
    ...{ file: 'talk.es.srt', written: 'talk.es.png', time: '00:00:05,000' },
  });
  const plain = inkOf(join(folder, 'talk.es.png'));
  expect(plain).toMatchObject({ width: 320, height: 180 });
  expect(plain.top).toBeGreaterThan(0.8);
  const own = JSON.stringify({ extends: 'box', position: 'top', size: 8 });
  await write('house.json', own);
  expect(await run(...words, '--subtitle-style', 'house.json', '--out', 'own.png')).toMatchObject({
    code: 0,
  });
  expect(inkOf(join(folder, 'own.png')).bottom).toBeLessThan(0.2);
});

test('a picture that is higher than wide has a fifth free below', async () => {
  const { run, folder } = await openWithVideo('180x320');
  expect(await run('preview', 'talk.es.srt', '--video', 'talk.mp4')).toMatchObject({ code: 0 });
  const ink = inkOf(join(folder, 'talk.es.png'));
  expect(ink.bottom).toBeLessThan(0.8);
  expect(ink.top).toBeGreaterThan(0.6);
});

test('an existing file, a time without a cue or a picture, and an unknown style are refused', async () => {
  const { run, write, read, folder } = await openWithVideo('64x36');
  await write('talk.es.png', 'mine');
  await write('late.es.srt', srtCue(1, 50, 52, 'Tarde.'));
  await write('wrong.json', '{"size":"big"}');
  const words = ['preview', 'talk.es.srt', '--video', 'talk.mp4'];
  const cases = [
    [words, 'talk.es.png exists and is different'],
    [[...words, '--at', '3'], 'talk.es.srt has no cue at 00:00:03,000'],
    [['preview', 'late.es.srt', '--video', 'talk.mp4'], 'the video has no picture at 51 s'],
    [['preview', 'talk.es.srt', '--video', 'gone.mp4'], 'gone.mp4'],
    [['preview', 'talk.es.srt', '--video', 'talk.es.srt'], 'not a video'],
    [['preview', 'talk.es.srt'], '--video'],
    [
      [...words, '--subtitle-style', 'neon'],
      'the subtitle style neon cannot be used: there is no such style or file',
    ],
    [[...words, '--subtitle-style', 'wrong.json'], 'wrong.json cannot be used: size must be a number'],
  ] as const;
  for (const [call, why] of cases)
    expect(await run(...call), why).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  expect(await read('talk.es.png')).toBe('mine');
  expect((await readdir(folder)).filter((name) => name.endsWith('.png'))).toEqual(['talk.es.png']);
  expect(await run(...words, '--clobber')).toMatchObject({ code: 0 });
  expect(await read('talk.es.png')).not.toBe('mine');
});
