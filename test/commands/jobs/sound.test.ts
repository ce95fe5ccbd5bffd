/**
 * Sound in, sound out: episodes of podcasts. What sound cannot have, and sound files of folders, are tested in `batch/inputs`, formats
 * and loudness in `media/export`.
 */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { ffmpeg } from '../../engines/workspace.ts';
import { makeVideo } from '../../prepare/workspace.ts';
import { makeSound, measureSound, readSound, TAGS } from '../../support/sounds.ts';
import { openMediaDesk } from './desk.ts';

const MP4 = ['-vf', 'scale=64:48', '-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast'];

it('sound is charged as planned with its still picture, and written in its format and as loud as asked for', async () => {
  const desk = await openMediaDesk();
  const source = makeSound(desk.folder, 'episode.mp3', 1);
  const words = ['localize', 'episode.mp3', '--to', 'es', '--loudness', '-16', '-o', 'json'];
  const plan = await desk.vloc([...words, '--dry-run']);
  expect(plan.code, plan.stderr).toBe(0);
  expect(plan.stderr).toMatch(
    /: put into an MP4 with a still picture of about [\d.]+ kB and 1 s, since the service accepts only videos/,
  );
  expect(plan.stderr).toContain(
    'episode.mp3: the sound of the delivered video is written as MP3 on this machine, free, with its tags, at -16 LUFS.',
  );
  const path = join(desk.folder, 'episode.es.mp3');
  const planned = JSON.parse(plan.stdout);
  expect(planned.items).toMatchObject([
    {
      conversion: 'still',
      results: [path],
      unit: 'started_minute',
      still: { seconds: expect.closeTo(1, 0) },
    },
  ]);
  expect(planned.items[0].still.bytes).toBe(planned.upload_bytes);

  const made = await desk.vloc(words);
  expect(made.code, made.stderr).toBe(0);
  const [episode] = JSON.parse(made.stdout).data;
  expect(episode.charged_credits).toBe(planned.quantity);
  expect(episode.files[0]).toMatchObject({ path, kept: 'sound as mp3 at -16 LUFS' });
  const { container, codec, chapters, covers } = readSound(source);
  expect(readSound(path)).toMatchObject({ container, codec, chapters, covers, tags: TAGS });
  expect(Math.abs(measureSound(path).lufs + 16)).toBeLessThanOrEqual(0.5);

  const download = ['jobs', 'download', episode.id, '--out'];
  expect((await desk.vloc([...download, 'again'])).code).toBe(0);
  expect(readSound(join(desk.folder, 'again/episode.es.mp3')).tags).toMatchObject(TAGS);
  expect((await desk.vloc([...download, 'plain', '--as-is'])).code).toBe(0);
  expect(readdirSync(join(desk.folder, 'plain'))).toContain('episode.es.mp4');
});

it('an episode is cut into parts like a video', async () => {
  const desk = await openMediaDesk();
  makeSound(desk.folder, 'episode.mp3', 5.2);
  const words = ['localize', 'episode.mp3', '--to', 'es', '--split', '--out', 'out'];
  const { code, stderr } = await desk.vloc(words);
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(/cut at silences into about 2 parts/);
  const whole = readSound(join(desk.folder, 'out', 'episode.es.mp3'));
  expect(whole).toMatchObject({ tags: TAGS, covers: 1 });
  expect(Math.abs(whole.seconds - 5.2)).toBeLessThan(0.15);
});

it('a file is sound or a video by what it has, not by its name', async () => {
  const desk = await openMediaDesk();
  const at = (name: string) => join(desk.folder, name);
  copyFileSync(makeVideo(desk.folder, 'video.mp4', 1, ...MP4, '-c:a', 'aac'), at('renamed.mp3'));
  copyFileSync(makeSound(desk.folder, 'sound.m4a', 1), at('pictureless.mp4'));
  const words = ['localize', 'renamed.mp3', 'pictureless.mp4', '--to', 'es', '--dry-run', '-o', 'json'];
  const { code, stderr, stdout } = await desk.vloc(words);
  expect(code, stderr).toBe(0);
  const items: { results: [string] }[] = JSON.parse(stdout).items;
  expect(items.map(({ results: [path] }) => basename(path))).toEqual([
    'renamed.es.mp4',
    'pictureless.es.m4a',
  ]);
});

it('a hostile file is refused with its reason before anything is sent', async () => {
  const desk = await openMediaDesk();
  const at = (name: string) => join(desk.folder, name);
  for (const [name, seconds] of [
    ['cut.mp3', 6],
    ['cut.wav', 1],
    ['cut.flac', 6],
  ] as const) {
    const bytes = readFileSync(makeSound(desk.folder, name, seconds));
    writeFileSync(at(name), bytes.subarray(0, bytes.length / 2));
  }
  writeFileSync(at('text.mp3'), 'not a sound at all');
  const tag = Buffer.from('ID3\x04\0\0\0\0\0\0');
  writeFileSync(at('tag.mp3'), Buffer.concat([tag, Buffer.alloc(5000, 'x')]));
  writeFileSync(at('empty.mp3'), '');
  ffmpeg('-f', 'lavfi', '-i', 'anullsrc', '-t', '0', '-y', at('nothing.wav'));
  const reasons = {
    'cut.mp3': /breaks off at \d\.\d s of 6\.\d s: the file is incomplete/,
    'cut.wav': /the last \d+ bytes of the sound are missing: the file is incomplete/,
    'cut.flac': /breaks off at \d\.\d s of 6\.0 s: the file is incomplete/,
    'text.mp3': /not a supported video.*; sound: MP3, M4A, WAV, FLAC, Ogg, Opus/,
    'tag.mp3': /not a video that vloc can read/,
    'empty.mp3': /the file is empty/,
    'nothing.wav': /it lasts 0 s/,
  };
  const { code, stderr } = await desk.vloc(['localize', ...Object.keys(reasons), '--to', 'es', '-o', 'json']);
  expect(code, stderr).toBe(2);
  const errors: { pointer: string; detail: string }[] = JSON.parse(stderr.trim().split('\n').at(-1) ?? '')
    .error.errors;
  expect(errors.map(({ pointer }) => pointer)).toEqual(Object.keys(reasons));
  const found = Object.fromEntries(errors.map(({ pointer, detail }) => [pointer, detail]));
  for (const [name, reason] of Object.entries(reasons)) expect(found[name]).toMatch(reason);
  expect(desk.count('createUpload')).toBe(0);
});
