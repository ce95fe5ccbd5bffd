import { utimesSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cacheSounds } from '../../../src/commands/subtitles/sound-cache.ts';
import { makeFolder } from '../../support/make-folder.ts';

async function setUp() {
  const folder = makeFolder();
  const file = join(folder, 'a.wav');
  writeFileSync(file, 'sound');
  const asked: string[] = [];
  const sound = {
    durationMs: 1234,
    peaks: Uint8Array.from([0, 255]),
    loudness: { stepMs: 20, decibels: Int8Array.from([-96, 0]) },
  };
  const read = cacheSounds(join(folder, 'outlines'), async (path) => {
    asked.push(path);
    return sound;
  });
  return { folder, file, asked, sound, read };
}

test('a sound is decoded once, and remembered', async () => {
  const { file, asked, sound, read } = await setUp();
  expect(await read(file)).toEqual(sound);
  const again = await read(file);
  expect([...again.peaks]).toEqual([...sound.peaks]);
  expect({ ...again, peaks: null }).toEqual({ ...sound, peaks: null });
  expect(asked).toEqual([file]);
});

test('a file that was written again is decoded again', async () => {
  const { file, asked, read } = await setUp();
  await read(file);
  utimesSync(file, 1, 1);
  await read(file);
  expect(asked).toHaveLength(2);
});

test('a remembered sound that was cut off is decoded again', async () => {
  const { folder, file, asked, read } = await setUp();
  await read(file);
  const [name = ''] = await readdir(join(folder, 'outlines'));
  writeFileSync(join(folder, 'outlines', name), '{"durationMs":');
  await read(file);
  expect(asked).toHaveLength(2);
});
