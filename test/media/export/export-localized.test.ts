import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exportLocalized, type LocalizedParts } from '../../../src/media/export/export.ts';
import { createWork, ffmpeg, ffprobe, programs } from '../../engines/workspace.ts';
import { makeVideo } from '../../prepare/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

const CODECS = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-c:a', 'aac'];
const LINES = [{ index: 1, start_ms: 500, end_ms: 1500, text: 'hola' }];
const WISHES = { subtitleOutput: 'none', originalAudio: 'background', resolution: 'source' } as const;

function tone(folder: string, name: string, hertz: number, decibels: number): string {
  const path = join(folder, name);
  const source = ['-f', 'lavfi', '-i', `sine=f=${hertz}:r=48000:d=2`];
  ffmpeg(...source, '-af', `volume=${decibels}dB`, '-ac', '1', path);
  return path;
}

function makeParts(folder: string): LocalizedParts {
  const video = makeVideo(folder, 'talk.mp4', 2, ...CODECS);
  const dub = tone(folder, 'dub.wav', 880, 0);
  const background = tone(folder, 'background.wav', 110, -30);
  return { video, track: null, dub, background, subtitle: { language: 'es', lines: LINES } };
}

const work = (folder: string) => {
  mkdirSync(join(folder, 'work'));
  return createWork(join(folder, 'work'));
};

test('a container that the service does not accept is converted first, with the selected track, and speech and subtitles that go beyond the picture do not make the video longer', async () => {
  const folder = makeFolder();
  const parts = makeParts(folder);
  const [video, dub] = [join(folder, 'talk.mkv'), join(folder, 'long.wav')];
  ffmpeg('-i', parts.video, '-c', 'copy', video);
  ffmpeg('-f', 'lavfi', '-i', 'sine=f=880:r=48000:d=5', '-ac', '1', dub);
  const lines = [...LINES, { index: 2, start_ms: 20_000, end_ms: 22_000, text: 'tarde' }];
  const wishes = { ...WISHES, originalAudio: 'mute', subtitleOutput: 'soft' } as const;
  const late = { ...parts, video, track: 1, dub, subtitle: { language: 'es', lines } };
  const { path, cut } = await exportLocalized(programs, late, wishes, work(folder));
  const [picture, sound, subtitle, lasts] = ffprobe(path, 'stream=codec_name:format=duration').split('\n');
  expect([picture, sound, subtitle]).toEqual(['h264', 'aac', 'mov_text']);
  expect(Math.abs(Number(lasts) - Number(ffprobe(video, 'format=duration')))).toBeLessThan(0.03);
  // It is said which cues the video lacks: the one that is spoken at its end, and the one after it.
  expect(cut?.cues).toEqual([1, 2]);
  expect(cut?.seconds).toBeCloseTo(3, 1);
});

test('a file that ffmpeg cannot read is reported with advice', async () => {
  const folder = makeFolder();
  const parts = makeParts(folder);
  const dub = join(folder, 'broken.wav');
  copyFileSync(parts.video, dub);
  const failing = exportLocalized(programs, { ...parts, dub }, WISHES, work(folder));
  await expect(failing).rejects.toMatchObject({
    code: 'PROGRAM_FAILED',
    advice: expect.stringMatching(/\w/),
  });
});
