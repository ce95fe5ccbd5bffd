/**
 * Sound in, sound out: episodes of podcasts. Their results are paid and written in `ledger/editors`; what sound cannot have, and sound
 * files of folders, are tested in `batch/inputs`, damaged files in `media/probe`, formats in `media/export`, loudness in `media/audio`.
 */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeSound } from '../../support/sounds.ts';
import { openMediaDesk } from './desk.ts';

it('sound is planned with its still picture, in its format, and in parts if it is too large for one job, also if it is shorter than its sample', async () => {
  const desk = await openMediaDesk();
  makeSound(desk.folder, 'episode.mp3', 3);
  const words = ['localize', 'episode.mp3', '--to', 'es', '--loudness', '-16', '--dry-run', '-o', 'json'];
  const plan = await desk.vloc(words);
  expect(plan.code, plan.stderr).toBe(0);
  expect(plan.stderr).toContain(
    'episode.mp3: the sound of the delivered video is written as MP3 on this machine, free, with its tags, at -16 LUFS.',
  );
  const { items, upload_bytes: bytes } = JSON.parse(plan.stdout);
  expect(items).toMatchObject([
    {
      conversion: 'still',
      results: [join(desk.folder, 'episode.es.mp3')],
      unit: 'started_minute',
      still: { seconds: expect.closeTo(3, 0), bytes },
    },
  ]);
  const parts = { equalSeconds: 60, mostSeconds: 60, mostBytes: 24_000 };
  const limits = { seconds: 60, bytes: 24_000, lines: 4, parts };
  const long = await desk.vloc([...words, '--sample', '40s'], { limits });
  expect(JSON.parse(long.stdout).items, long.stderr).toMatchObject([{ conversion: 'still', parts: 2 }]);
});
