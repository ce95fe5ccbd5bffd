/**
 * Sound in, sound out: episodes of podcasts. What sound cannot have, and sound files of folders, are tested in `batch/inputs`, damaged
 * files in `media/probe`, formats in `media/export`, loudness in `media/audio`.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createSmallEngines, mediaOf } from '../../service/harness/small-engines.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { makeSound, readSound, TAGS } from '../../support/sounds.ts';
import { openMediaDesk } from './desk.ts';
import { makeFiles } from './made-files.ts';

it('sound is charged as planned with its still picture, and written in its format', async () => {
  const desk = await openMediaDesk({ engines: { ...createSmallEngines(), inspect: async () => mediaOf(1) } });
  makeSound(desk.folder, 'episode.mp3', 1);
  const words = ['localize', 'episode.mp3', '--to', 'es', '--loudness', '-16', '-o', 'json'];
  const plan = await desk.vloc([...words, '--dry-run']);
  expect(plan.code, plan.stderr).toBe(0);
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
  expect(readSound(path)).toMatchObject({ container: 'mp3', codec: 'mp3', covers: 1, tags: TAGS });
});

it('an episode that is too large for one job is cut into parts like a video, also if it is shorter than its sample', async () => {
  const path = makeSound(makeFolder(), 'episode.mp3', 3);
  const [seconds, bytes] = [60, 24_000];
  const parts = { equalSeconds: seconds, mostSeconds: seconds, mostBytes: bytes };
  const limits = { seconds, bytes, lines: 4, parts };
  const { preparation, files } = await makeFiles(path, { sample: 40_000 }, limits);
  expect(preparation).toMatchObject({ conversion: 'still', parts: 2 });
  expect(files.length).toBeGreaterThan(1);
  expect(files.reduce((sum, { seconds }) => sum + (seconds ?? 0), 0)).toBeCloseTo(3, 0);
});
