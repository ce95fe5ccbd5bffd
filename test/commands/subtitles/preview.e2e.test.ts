import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSubtitlesDesk, srtCue } from './desk.ts';

const CUES = srtCue(1, 1, 2, 'Hola.') + srtCue(2, 4, 6, 'Una segunda frase.');

async function openWithVideo() {
  const desk = await openSubtitlesDesk();
  await desk.write('talk.es.srt', CUES);
  const file = join(desk.folder, 'talk.mp4');
  // Grey, so that letters and boxes differ from it.
  const picture = 'color=c=0x808080:s=160x90:r=1:d=6';
  execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', picture, '-c:v', 'mpeg4', file]);
  return desk;
}

/** The last row of a PNG that is not grey, as a share of its height; with its size, which its head has. */
function inkOf(path: string) {
  const head = readFileSync(path);
  const [width, height] = [head.readUInt32BE(16), head.readUInt32BE(20)];
  const args = ['-v', 'error', '-i', path, '-f', 'rawvideo', '-pix_fmt', 'gray', '-'];
  const bytes = execFileSync('ffmpeg', args, { maxBuffer: 2 ** 24 });
  const found = [...bytes.entries()].filter(([, value]) => Math.abs(value - (bytes[0] ?? 0)) > 30);
  const rows = found.map(([at]) => Math.floor(at / width));
  return { width, height, bottom: Math.max(...rows) / height };
}

const WORDS = ['preview', 'talk.es.srt', '--video', 'talk.mp4'];

test('a PNG shows the cue of that time where the style puts it, and free, and replaces another file only with --clobber', async () => {
  const { run, write, read, folder } = await openWithVideo();
  await write('talk.es.png', 'mine');
  await write('house.json', JSON.stringify({ extends: 'box', position: 'top', size: 8 }));
  await write('late.es.srt', srtCue(1, 50, 52, 'Tarde.'));
  for (const [call, why] of [
    [WORDS, 'talk.es.png exists and is different'],
    [[...WORDS, '--at', '3'], 'talk.es.srt has no cue at 00:00:03,000'],
    [['preview', 'late.es.srt', '--video', 'talk.mp4'], 'the video has no picture at 51 s'],
    [['preview', 'talk.es.srt', '--video', 'gone.mp4'], 'gone.mp4'],
    [[...WORDS, '--subtitle-style', 'neon'], 'there is no such style or file'],
  ] as const)
    expect(await run(...call), why).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
  expect(await read('talk.es.png')).toBe('mine');
  expect((await readdir(folder)).filter((name) => name.endsWith('.png'))).toEqual(['talk.es.png']);
  const styled = ['--subtitle-style', 'house.json', '--clobber'];
  const ended = await run(...WORDS, ...styled, '--at', '5', '-o', 'json');
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.stdout)).toEqual({
    ...{ file: 'talk.es.srt', written: 'talk.es.png', time: '00:00:05,000' },
  });
  const shown = inkOf(join(folder, 'talk.es.png'));
  expect(shown).toMatchObject({ width: 160, height: 90 });
  expect(shown.bottom).toBeLessThan(0.2);
});
