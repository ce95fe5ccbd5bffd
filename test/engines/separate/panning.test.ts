import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Apart, findApart, type Powers, voiceAcross } from '../../../src/engines/separate/panning.ts';
import { createRandom } from '../../client/simulation/random.ts';

/** Samples in a block of a tenth of a second. */
const BLOCK = 800;
const SECONDS = 0.1;
/** Speech in the middle of five seconds. */
const SPEECH = { start: 1.5, end: 3.5 };
const ALL = [SPEECH];

interface Sound {
  readonly mid: Float32Array;
  readonly side: Float32Array;
}

/** Five seconds of noise as music, and other noise as a voice during the speech, each from one direction. */
function sound(voice: number, music: number, { voiceGain = 1, musicGain = 1, room = 0, hiss = 0 } = {}) {
  const random = createRandom(7);
  const noise = () => 2 * random() - 1;
  const length = (5 / SECONDS) * BLOCK;
  const spoken = Float32Array.from({ length }, (_, at) => {
    const time = (at / BLOCK) * SECONDS;
    return time >= SPEECH.start && time < SPEECH.end ? voiceGain * noise() : 0;
  });
  const played = Float32Array.from({ length }, () => musicGain * noise());
  const echo = Float32Array.from({ length }, (_, at) => (spoken[at] === 0 ? 0 : room * noise()));
  const at = (index: number, of: (angle: number) => number) =>
    (spoken[index] ?? 0) * of(voice) + (played[index] ?? 0) * of(music);
  const mid = Float32Array.from({ length }, (_, index) => at(index, Math.cos));
  const side = Float32Array.from(
    { length },
    (_, index) => at(index, Math.sin) + (echo[index] ?? 0) + hiss * noise(),
  );
  return { mid, side, spoken };
}

function powersOf({ mid, side }: Sound): Powers {
  const products = (one: Float32Array, other: Float32Array) =>
    Float64Array.from({ length: one.length / BLOCK }, (_, block) => {
      let sum = 0;
      for (let at = block * BLOCK; at < (block + 1) * BLOCK; at += 1)
        sum += (one[at] ?? 0) * (other[at] ?? 0);
      return sum;
    });
  return { mid: products(mid, mid), side: products(side, side), both: products(mid, side) };
}

const find = (of: Sound): Apart | null => findApart(SPEECH, ALL, powersOf(of), SECONDS);

describe('voice and music that come from one direction each', () => {
  const angle = fc.double({ min: -Math.PI / 4, max: Math.PI / 4, noNaN: true });

  test('are found wherever they are, and the voice is computed without the music', () => {
    fc.assert(
      fc.property(angle, angle, fc.constantFrom(0.5, 1, 2), (voice, music, voiceGain) => {
        fc.pre(Math.abs(voice - music) > 0.35);
        const both = sound(voice, music, { voiceGain });
        const apart = find(both);
        expect(apart?.music).toBeCloseTo(music, 2);
        expect(Math.abs((apart?.voice ?? 9) - voice)).toBeLessThan(0.1);
        const computed = new Float32Array(both.spoken.length);
        voiceAcross({ voice, music }, both, 0, computed);
        const error = computed.reduce(
          (most, value, at) => Math.max(most, Math.abs(value - (both.spoken[at] ?? 0))),
          0,
        );
        expect(error).toBeLessThan(1e-4);
      }),
      { numRuns: 8 },
    );
  });

  test('are found although the codec adds a little noise to the difference', () => {
    expect(find(sound(Math.PI / 4, 0, { hiss: 0.05 }))?.music).toBeCloseTo(0, 1);
  });
});

test.each([
  { sound: sound(0, 0), what: 'the same direction' },
  { sound: sound(0.1, 0), what: 'nearly the same direction' },
  { sound: sound(0, 0, { room: 0.5 }), what: 'a voice in a room' },
  { sound: sound(0.4, 0, { room: 0.7 }), what: 'a voice in a room, more on the left' },
  { sound: sound(Math.PI / 4, 0, { hiss: 0.5 }), what: 'music from everywhere' },
  { sound: sound(Math.PI / 2, 0), what: 'a voice in opposite phases' },
  { sound: sound(Math.PI / 4, 0, { musicGain: 0 }), what: 'a voice without music' },
])('$what is left to the masks', ({ sound: both }) => {
  expect(find(both)).toBeNull();
});

test('music cannot be located without a pause', () => {
  const whole = { start: 0, end: 5 };
  expect(findApart(whole, [whole], powersOf(sound(Math.PI / 4, 0)), SECONDS)).toBeNull();
});

test('music that gets louder during the speech is left to the masks', () => {
  const both = sound(Math.PI / 4, 0);
  for (let at = 15 * BLOCK; at < 35 * BLOCK; at += 1) {
    both.mid[at] = 2 * (both.mid[at] ?? 0) - (both.side[at] ?? 0);
  }
  expect(find(both)).toBeNull();
});
