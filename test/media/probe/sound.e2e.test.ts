import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readFacts, type TrackFacts, type VideoFacts } from '../../../src/media/probe/facts.ts';
import { soundFormatOf, soundSeconds } from '../../../src/media/probe/sound.ts';
import { programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { makeSound } from '../../support/sounds.ts';
import { silentWav } from '../../support/wav.ts';

async function measure(name: string, bytes: Buffer): Promise<number> {
  const run = { signal: new AbortController().signal, folder: makeFolder() };
  const path = join(run.folder, name);
  writeFileSync(path, bytes);
  return soundSeconds(programs, path, await readFacts(programs, path, run), run);
}

/** Keeps half of the file, as if its download had broken off. */
const half = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);
const episode = (name: string) => readFileSync(makeSound(makeFolder(), name, 6));

it.each([
  ['cut.mp3', () => half(episode('a.mp3')), /breaks off at \d\.\d s of 6\.\d s: the file is incomplete/],
  ['cut.flac', () => half(episode('a.flac')), /breaks off at \d\.\d s of 6\.0 s: the file is incomplete/],
  ['cut.wav', () => half(silentWav(2)), /the last \d+ bytes of the sound are missing/],
  ['empty.wav', () => silentWav(0), /it lasts 0 s/],
  [
    'tag.mp3',
    () => Buffer.concat([Buffer.from('ID3\x04\0\0\0\0\0\0'), Buffer.alloc(5000, 'x')]),
    /not a video that vloc can read/,
  ],
])('sound that is not whole is refused: %s', async (name, make, reason) => {
  await expect(measure(name, make())).rejects.toMatchObject({
    name: 'PreparationFailure',
    message: expect.stringMatching(reason),
  });
});

it('a file is sound by its container, if it has no picture', () => {
  // Casts: only whether there is a picture, and the codecs, are looked at.
  const mp4 = { demuxer: 'mov,mp4,m4a,3gp,3g2,mj2', picture: null, tracks: [{ codec: 'aac' } as TrackFacts] };
  const picture = {} as VideoFacts['picture'];
  expect(soundFormatOf(mp4)).toBe('m4a');
  expect(soundFormatOf({ ...mp4, picture })).toBeNull();
  expect(soundFormatOf({ ...mp4, demuxer: 'matroska,webm' })).toBeNull();
});
