import { expect, test } from 'vitest';
import { CLICK_MARGIN, type Click, findClicks, withoutClicks } from '../../../src/engines/separate/clicks.ts';
import { speechClip } from '../workspace.ts';
import { samplesOf, soundOf, stereo } from './sound.ts';

const RATE = 48_000;
const MS = 48;
const BLOCK = 7_680;

/** Looks for clicks in all blocks, as while streaming. */
function clicksOf(samples: Int16Array): Click[] {
  const clicks: Click[] = [];
  for (let position = 0; position < samples.length / 2; position += BLOCK) {
    const around = Int16Array.from(
      { length: 2 * (BLOCK + 2 * CLICK_MARGIN) },
      (_, at) => samples[2 * (position - CLICK_MARGIN) + at] ?? 0,
    );
    clicks.push(...findClicks(around, position));
  }
  return clicks;
}

/** A voice of 120 Hz: pulses that fade, as loud as speech. */
const voice = Float64Array.from({ length: RATE }, (_, at) => {
  const time = (at % 400) / RATE;
  return 6000 * Math.exp(-300 * time) * Math.sin(2 * Math.PI * 700 * time);
});

/** Adds two milliseconds of alternating samples. */
function withClick(samples: ArrayLike<number>, start: number, amplitude: number): Float64Array {
  return Float64Array.from(samples, (value, at) =>
    at >= start && at < start + 2 * MS ? value + (at % 2 === 0 ? amplitude : -amplitude) : value,
  );
}

test.each([3000, 20_000])(
  'a click of 2 ms and amplitude %d over a voice is found, at its place',
  (amplitude) => {
    const start = Math.round(0.4321 * RATE);
    const [click, ...others] = clicksOf(stereo(withClick(voice, start, amplitude)));
    expect(others).toEqual([]);
    expect(click?.start).toBeLessThanOrEqual(start);
    expect(click?.start).toBeGreaterThan(start - 3 * MS);
    expect(click?.end).toBeGreaterThanOrEqual(start + 2 * MS);
    expect(click?.end).toBeLessThan(start + 5 * MS);
  },
);

test.each([BLOCK - 40, BLOCK])('a click at %d, about a border of blocks, is found once', (start) => {
  expect(clicksOf(stereo(withClick(voice, start, 8000)))).toHaveLength(1);
});

test('neither a voice, nor noise, nor silence, nor a burst of 20 ms has clicks', () => {
  const noise = Float64Array.from({ length: RATE }, (_, at) => 3000 * Math.sin(at * at * 0.37));
  const burst = Float64Array.from({ length: RATE }, (_, at) =>
    at > 20_000 && at < 20_960 ? (noise[at] ?? 0) : 0,
  );
  for (const sound of [voice, noise, burst, new Float64Array(RATE)])
    expect(clicksOf(stereo(sound))).toEqual([]);
});

test('recorded speech has hardly any: less than one in two seconds', () => {
  const speech = samplesOf(speechClip('0880'));
  expect(clicksOf(speech).length).toBeLessThan(speech.length / 2 / RATE / 2);
});

test('the sound without clicks is the voice again, also if a read begins or ends in a click', async () => {
  const start = 20_000;
  const clicked = stereo(withClick(voice, start, 8000));
  const clean = withoutClicks(soundOf(clicked, 2), clicksOf(clicked));
  const parts: Int16Array[] = [];
  for (const [from, to] of [
    [0, start + 50],
    [start + 50, RATE],
  ] as const) {
    parts.push((await clean.read(from, to - from)).slice());
  }
  const heard = parts.flatMap((part) => [...part]);
  const errors = heard.map((value, at) => Math.abs(value - Math.round(voice[at >> 1] ?? 0)));
  expect(Math.max(...errors)).toBeLessThan(1000);
  expect(errors.filter((error) => error > 0).length).toBeLessThan(2 * 6 * MS);
});

test('sound without clicks is read unchanged', async () => {
  const plain = soundOf(stereo(voice), 2);
  const read = await withoutClicks(plain, []).read(100, 200);
  expect(read).toEqual(await plain.read(100, 200));
});
