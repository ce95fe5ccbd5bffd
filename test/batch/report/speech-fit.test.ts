import { describe, expect, it } from 'vitest';
import { measureFit, measureMixedFit, rateFit } from '../../../src/batch/report/speech-fit.ts';

const STEP = 20;

/** Five seconds of silence with sound in the given stretches, in ms, at a level in decibels. */
function loudness(stretches: readonly (readonly [number, number])[], level = -20) {
  const decibels = new Int8Array(5_000 / STEP).fill(-96);
  for (const [from, to] of stretches) decibels.fill(level, from / STEP, to / STEP);
  return { stepMs: STEP, decibels };
}
const line = (index: number, start_ms: number, end_ms: number) => ({ index, start_ms, end_ms, text: 'x' });

describe('the speech of a line', () => {
  it('lasts from its first to its last sound, including pauses', () => {
    const [fit] = measureFit(
      [line(1, 1000, 3000)],
      loudness([
        [1100, 1500],
        [1900, 2600],
      ]),
    );
    expect(fit?.speech).toEqual({ start_ms: 1100, end_ms: 2600 });
    expect(fit && rateFit(fit)).toEqual({ grade: 'fits', slotMs: 2000, speechMs: 1500, overMs: 0 });
  });

  it('may continue after its slot until the next line begins, and then does not fit', () => {
    const fits = measureFit(
      [line(1, 0, 1000), line(2, 2000, 3000)],
      loudness([
        [100, 1400],
        [2000, 2900],
      ]),
    );
    expect(fits.map((fit) => rateFit(fit).grade)).toEqual(['over', 'fits']);
    expect(fits[0] && rateFit(fits[0]).overMs).toBe(400);
  });

  it('that ends a tenth of a second late still fits', () => {
    const fits = measureFit([line(1, 0, 1000)], loudness([[100, 1100]]));
    expect(fits.map((fit) => rateFit(fit).grade)).toEqual(['fits']);
  });

  it('is missing if nothing is heard, or only a click', () => {
    const sound = loudness([[0, 900]]);
    sound.decibels[2500 / STEP] = -10;
    const fits = measureFit([line(1, 0, 1000), line(2, 2000, 3000)], sound);
    expect(fits.map((fit) => rateFit(fit).grade)).toEqual(['fits', 'silent']);
  });

  it('is distinguished from room noise by the loudness of the speech of that track', () => {
    const sound = loudness([[1000, 1500]], -12);
    for (let at = 0; at < sound.decibels.length; at += 1)
      if (sound.decibels[at] === -96) sound.decibels[at] = -50;
    expect(measureFit([line(1, 900, 3000)], sound)[0]?.speech).toEqual({ start_ms: 1000, end_ms: 1500 });
  });

  it('of two lines at the same time is searched for in the slot that they share', () => {
    const fits = measureFit([line(1, 0, 1000), line(2, 0, 1000)], loudness([[0, 900]]));
    expect(fits.map((fit) => rateFit(fit).grade)).toEqual(['fits', 'fits']);
  });
});

describe('the speech of a line in a mix', () => {
  /** Speech on a background of this level. */
  const mix = (stretches: readonly (readonly [number, number])[], background: number) => {
    const sound = loudness(stretches);
    return { ...sound, decibels: sound.decibels.map((level) => Math.max(level, background)) };
  };

  it('is measured where the background is quiet, up to its end after the slot', () => {
    const sound = mix(
      [
        [1000, 2400],
        [3000, 3900],
      ],
      -45,
    );
    const fits = measureMixedFit([line(1, 1000, 2000), line(2, 3000, 4000)], sound);
    expect(fits.map(({ speech }) => speech)).toEqual([
      { start_ms: 1000, end_ms: 2400 },
      { start_ms: 3000, end_ms: 3900 },
    ]);
    expect(fits.map((fit) => rateFit(fit).grade)).toEqual(['over', 'fits']);
  });

  it('ends at the first long pause, so that a much later sound does not count', () => {
    const [fit] = measureMixedFit(
      [line(1, 1000, 2000)],
      mix(
        [
          [1000, 1900],
          [3400, 3440],
        ],
        -60,
      ),
    );
    expect(fit?.speech).toEqual({ start_ms: 1000, end_ms: 1900 });
  });

  it.each([
    ['music as loud as the voice', mix([[1000, 1900]], -25)],
    [
      'a beat as loud as the voice',
      mix(
        Array.from({ length: 25 }, (_, at) => [at * 200, at * 200 + 80]),
        -60,
      ),
    ],
  ])('is unclear beside %s', (_what, sound) => {
    const fits = measureMixedFit([line(1, 1000, 2000)], sound);
    expect(fits.map((fit) => rateFit(fit).grade)).toEqual(['unclear']);
  });

  it('is missing in silence', () => {
    expect(measureMixedFit([line(1, 1000, 2000)], mix([], -96))[0]?.speech).toBeNull();
  });
});
