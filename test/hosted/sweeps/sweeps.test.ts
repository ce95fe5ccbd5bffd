/**
 * Runs that are killed and stopped at random moments, against a service that says no more than it must: in the end every
 * result is in its own file, no input has changed and nothing was paid twice. A failure names its seed; with it in
 * VLOC_SWEEP_SEED that round alone is played again, though what depends on time may go another way.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeVideo } from '../../prepare/workspace.ts';
import { type Media, playRound } from './round.ts';
import { SCENES } from './scenes.ts';

const IS_LONG = process.env.VLOC_LONG_TESTS === '1';
const PLAYED = SCENES.filter(({ isVariant = false }) => IS_LONG || !isVariant);
/** Rounds of a scene; in all 300 in the long run. */
const EACH = IS_LONG ? Math.ceil(300 / PLAYED.length) : 1;
/** Rounds of a scene at a time: a process waits for most of its life. */
const LANES = Math.min(4, EACH);
/** The short run makes the same choices each time; the long one looks for others. */
const FIRST_SEED = IS_LONG ? Math.floor(Math.random() * 2 ** 31) : 1;
const ONE_SEED = process.env.VLOC_SWEEP_SEED;
/** Ten processes a round, each of which takes ten seconds on a busy machine, and ffmpeg as long. */
const ROUND_MS = 240_000;

const MP4 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '5', '-c:a', 'aac'];

let media: Media;
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'vloc-sweeps-'));
  const read = (seconds: number) => readFileSync(makeVideo(folder, `${seconds}.mp4`, seconds, ...MP4));
  media = { short: read(3), long: read(8) };
});

/** Failures of the rounds with these seeds, and how many runs were interrupted in them. */
async function playAll(scene: (typeof SCENES)[number], seeds: readonly number[]) {
  const left = [...seeds];
  const failures: string[] = [];
  let interrupted = 0;
  const lane = async () => {
    for (let seed = left.shift(); seed !== undefined; seed = left.shift()) {
      await playRound(scene, seed, media).then(
        (count) => {
          interrupted += count;
        },
        (error: Error) => failures.push(error.message),
      );
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return { failures, interrupted };
}

describe('interrupted at random moments', () => {
  it.each(PLAYED)(
    '$name: every result in its own file, no input changed, nothing paid twice',
    async (scene) => {
      const first = FIRST_SEED + SCENES.indexOf(scene) * EACH;
      const seeds =
        ONE_SEED === undefined ? Array.from({ length: EACH }, (_, at) => first + at) : [Number(ONE_SEED)];
      const { failures, interrupted } = await playAll(scene, seeds);
      const range = `seeds ${seeds[0]} to ${seeds.at(-1)}`;
      process.stdout.write(`${scene.name}: ${range}, ${interrupted} runs interrupted\n`);
      expect(failures.join('\n\n')).toBe('');
    },
    EACH * ROUND_MS,
  );
});
