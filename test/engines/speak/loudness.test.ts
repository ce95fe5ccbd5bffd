import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fileAddress, ownInput, QUIET } from '../../../src/engines/media/arguments.ts';
import { levelDub, measureLoudness } from '../../../src/engines/speak/loudness.ts';
import { createWork, ffmpeg, programs, temporaryFolder } from '../workspace.ts';

/** Pink noise of two seconds; its loudness follows the amplitude. */
function noise(folder: string, name: string, amplitude: number): string {
  const path = join(folder, `${name}.wav`);
  const source = `anoisesrc=color=pink:seed=1:duration=2:sample_rate=48000:amplitude=${amplitude}`;
  ffmpeg('-f', 'lavfi', '-i', source, '-c:a', 'pcm_s16le', path);
  return path;
}

/** The loudness of a dub after it is levelled to a voice. */
async function levelled(dubAmplitude: number, voiceAmplitude: number | null) {
  const folder = temporaryFolder();
  const work = createWork(folder);
  const dub = noise(folder, 'dub', dubAmplitude);
  const voice = voiceAmplitude === null ? null : noise(folder, 'voice', voiceAmplitude);
  const gain = await levelDub(programs, dub, voice, work);
  const out = join(folder, 'out.wav');
  const output = ['-c:a', 'pcm_s16le', '-f', 'wav', fileAddress(out)];
  await programs.run('ffmpeg', [...QUIET, ...ownInput(dub, 'wav'), ...gain, ...output], work);
  return {
    dub: (await measureLoudness(programs, out, work)) ?? 0,
    voice: voice === null ? null : await measureLoudness(programs, voice, work),
  };
}

test('a dub gets the loudness of the original voice, within half a unit', async () => {
  for (const amplitude of [0.02, 0.9]) {
    const { dub, voice } = await levelled(amplitude, 0.5);
    expect(Math.abs(dub - (voice ?? 0))).toBeLessThan(0.5);
  }
});

test('a dub without an original voice gets the loudness of the built-in speaker', async () => {
  expect(Math.abs((await levelled(0.02, null)).dub + 18)).toBeLessThan(0.5);
});

test('a very quiet voice is not imitated', async () => {
  const { dub, voice } = await levelled(0.2, 0.005);
  expect(voice).toBeLessThan(-40);
  expect(Math.abs(dub + 27)).toBeLessThan(0.5);
});

test('silence has no loudness and no gain', async () => {
  const folder = temporaryFolder();
  const silent = join(folder, 'silent.wav');
  ffmpeg('-f', 'lavfi', '-i', 'anullsrc=r=48000:cl=mono:d=2', '-c:a', 'pcm_s16le', silent);
  const work = createWork(folder);
  expect(await measureLoudness(programs, silent, work)).toBeNull();
  expect(await levelDub(programs, silent, null, work)).toEqual([]);
});
