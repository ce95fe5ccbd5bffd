import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { integratedLoudness, toEnergy } from '../../../src/media/audio/loudness.ts';
import { planGains, type Sounds } from '../../../src/media/export/balance.ts';

/** One value for each tenth of a second. */
const blocksOf = (lufs: readonly number[]) => Float64Array.from(lufs, toEnergy);
const silent = new Float64Array(0);
const add = (first: Float64Array, second: Float64Array, gain = 0) =>
  Float64Array.from(first, (energy, at) => energy + (second[at] ?? 0) * toEnergy(gain));

/** Speech of two seconds with pauses of one, and music that many LU below it. */
const speech = (lufs: number, share = 0.67) =>
  Array.from({ length: 90 }, (_, at) => (at % 30 < 30 * share ? lufs : -120));
function sounds({ voice = -20, music = -120, dub = -24, share = 0.67 } = {}): Sounds {
  const rest = blocksOf(Array.from({ length: 90 }, () => music));
  const source = add(blocksOf(speech(voice)), rest);
  return { source, stereo: source, rest, dub: blocksOf(speech(dub, share)) };
}

const loudnessOf = (blocks: Float64Array) => integratedLoudness(blocks) ?? Number.NaN;
const level = fc.double({ min: -40, max: -12, noNaN: true });

describe('the gain of a dub', () => {
  test('makes the result as loud as the source, for any voice and any music below it', () => {
    const music = fc.double({ min: 3, max: 60, noNaN: true });
    const share = fc.constantFrom(0.4, 0.67, 0.9);
    fc.assert(
      fc.property(level, music, level, share, (voice, below, dub, spoken) => {
        const heard = sounds({ voice, music: voice - below, dub, share: spoken });
        const gains = planGains('background', heard);
        const result = loudnessOf(add(heard.rest, heard.dub, gains.dub)) + gains.mix;
        expect(Math.abs(result - loudnessOf(heard.source))).toBeLessThanOrEqual(0.6);
      }),
    );
  });

  test('makes it equally loud without the original', () => {
    fc.assert(
      fc.property(level, level, (voice, dub) => {
        const heard = { ...sounds({ voice, dub }), rest: silent };
        const gains = planGains('mute', heard);
        expect(loudnessOf(heard.dub) + gains.dub).toBeCloseTo(loudnessOf(heard.source), 6);
        expect(gains.mix).toBe(0);
      }),
    );
  });

  test('makes it equally loud over a lowered original, which is lowered by the same for quiet and loud videos', () => {
    const reductions = [-40, -14].map((voice) => {
      const heard = sounds({ voice, music: voice - 12 });
      const { dub, key } = planGains('duck', { ...heard, rest: heard.source });
      expect(loudnessOf(heard.dub) + dub - loudnessOf(heard.source)).toBeGreaterThan(-1);
      expect(loudnessOf(heard.dub) + dub - loudnessOf(heard.source)).toBeLessThan(1);
      return loudnessOf(heard.dub) + key;
    });
    expect(reductions[0]).toBeCloseTo(-29);
    expect(reductions[1]).toBeCloseTo(-29);
  });

  test('keeps the dub audible where the voice stayed in the background', () => {
    const heard = sounds({ voice: -20, music: -14 });
    const gains = planGains('background', { ...heard, rest: heard.source });
    expect(loudnessOf(heard.dub) + gains.dub).toBeCloseTo(loudnessOf(heard.source) - 6, 1);
    const result = loudnessOf(add(heard.source, heard.dub, gains.dub)) + gains.mix;
    expect(Math.abs(result - loudnessOf(heard.source))).toBeLessThanOrEqual(1);
  });
});

test('surround sound that becomes quieter in two channels is raised as a whole', () => {
  const heard = sounds({ music: -26 });
  const quieter = (blocks: Float64Array) => add(blocks, silent).map((energy) => energy * toEnergy(-7));
  const gains = planGains('background', {
    ...heard,
    stereo: quieter(heard.source),
    rest: quieter(heard.rest),
  });
  expect(gains.mix).toBeCloseTo(7, 0);
});

test('nothing changes if nothing is spoken', () => {
  expect(planGains('background', { ...sounds(), dub: silent })).toEqual({ dub: 0, key: 0, mix: 0 });
});

test('a dub over a silent source has the usual loudness of speech, and noise is not imitated', () => {
  expect(planGains('mute', { ...sounds({ dub: -24 }), source: silent }).dub).toBeCloseTo(6);
  expect(planGains('mute', sounds({ dub: -24, voice: -64 })).dub).toBeCloseTo(-26);
});
