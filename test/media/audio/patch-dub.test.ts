/** A piece that is put into an earlier dub, and the comparison of their voices. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareVoices, patchDub } from '../../../src/media/audio/patch-dub.ts';
import { createPrograms } from '../../../src/media/programs/programs.ts';
import { ffmpeg } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { samplesOf, speakTones } from '../../support/tones.ts';

const RATE = 8000;
const MS = RATE / 1000;
const FADE = 10 * MS;
const programs = createPrograms(process.env.PATH ?? '');

async function write(name: string, startMs: number, endMs: number, pitch = 110, level = 0.3) {
  const path = join(makeFolder(), name);
  await writeFile(
    path,
    speakTones([{ index: 1, start_ms: startMs, end_ms: endMs, text: 'a' }], { pitch, level }),
  );
  return path;
}

const work = () => ({ folder: makeFolder(), signal: new AbortController().signal });

describe('a patched track', () => {
  it('has every sample of the old one outside the places, and of the piece in them, between fades of 10 ms', async () => {
    const [track, piece] = [await write('old.wav', 0, 2000), await write('new.wav', 0, 2600, 130)];
    const [old, now] = [samplesOf(await readFile(track)), samplesOf(await readFile(piece))];
    const bounds = fc.uniqueArray(fc.nat(2000), { minLength: 2, maxLength: 6 });
    const cuts = bounds.map((all) => all.toSorted((one, other) => one - other));
    await fc.assert(
      fc.asyncProperty(cuts, fc.boolean(), fc.boolean(), async (all, isOpen, isSilent) => {
        const places = all.flatMap((startMs, at) => {
          const endMs = all[at + 1] ?? null;
          if (at % 2 === 1 || (endMs === null && !isOpen)) return [];
          return [{ startMs, endMs, spoken: isSilent ? [] : [[startMs, startMs + 1] as const] }];
        });
        const path = await patchDub(programs, { track, piece, places }, work());
        const made = samplesOf(await readFile(path));
        const isLonger = !isSilent && places.at(-1)?.endMs === null;
        expect(made).toHaveLength(isLonger ? now.length : old.length);
        const wrong = made.findIndex((sample, at) => {
          const place = places.find(
            ({ startMs, endMs }) => startMs * MS <= at && at < (endMs ?? Number.POSITIVE_INFINITY) * MS,
          );
          if (place === undefined) return sample !== old[at];
          const left = at - place.startMs * MS;
          const right = (place.endMs ?? Number.POSITIVE_INFINITY) * MS - at - 1;
          const wanted = isSilent ? 0 : (now[at] ?? 0);
          if (left >= FADE && right >= FADE) return sample !== wanted;
          const [low, high] = [Math.min(wanted, old[at] ?? 0), Math.max(wanted, old[at] ?? 0)];
          return sample < low - 1 || sample > high + 1;
        });
        expect(wrong).toBe(-1);
      }),
      { numRuns: 15 },
    );
  });

  it('has the rate and the channels of the old one, whatever those of the piece are', async () => {
    const [track, piece] = [await write('old.wav', 0, 1000), await write('new.wav', 0, 1000, 130)];
    const stereo = join(makeFolder(), 'stereo.wav');
    ffmpeg('-i', piece, '-ar', '16000', '-ac', '2', '-c:a', 'pcm_s24le', stereo);
    const places = [{ startMs: 400, endMs: 600, spoken: [[400, 600] as const] }];
    const path = await patchDub(programs, { track, piece: stereo, places }, work());
    const [old, made] = [samplesOf(await readFile(track)), samplesOf(await readFile(path))];
    expect(made).toHaveLength(old.length);
    expect(made.slice(0, 400 * MS)).toEqual(old.slice(0, 400 * MS));
    expect(made.slice(600 * MS)).toEqual(old.slice(600 * MS));
    expect(made.slice(420 * MS, 580 * MS)).not.toEqual(old.slice(420 * MS, 580 * MS));
  });
});

describe('the voice of a piece', () => {
  const compare = async (pitch: number, level: number, oldEndMs = 2000) => {
    const [track, piece] = [
      await write('old.wav', 0, oldEndMs),
      await write('new.wav', 0, 4000, pitch, level),
    ];
    const places = [{ startMs: 1000, endMs: null, spoken: [[1000, 1900] as const] }];
    return compareVoices(programs, { track, piece, places }, work());
  };

  it.each([
    ['the same', 110, 0.3, null],
    ['of a woman instead of a man', 200, 0.3, 'at 1.0 s its pitch is 200 Hz instead of 110 Hz'],
    ['much louder', 110, 0.9, 'at 1.0 s it is 10 dB louder'],
    ['silent', 110, 0, 'at 1.0 s it is silent'],
  ])('is compared at the same time: %s', async (_name, pitch, level, found) => {
    expect(await compare(pitch, level)).toBe(found);
  });

  it('is compared with all of the track where nothing was spoken before', async () => {
    expect(await compare(110, 0.3, 900)).toBeNull();
    expect(await compare(200, 0.3, 900)).toContain('instead of 110 Hz');
  });
});
