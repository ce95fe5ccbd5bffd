/** What is left of the voice in the background: measured from the stems alone, compared with the voice that was mixed. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { measureResidue, NOTICED_RESIDUE } from '../../../src/engines/separate/residue.ts';
import { separateSound } from '../../../src/engines/separate/separate.ts';
import { createWav } from '../../../src/media/audio/wav.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createWork, ffmpeg, speechClip, stepEngines } from '../workspace.ts';
import { samplesOf, soundOf } from './sound.ts';

/** A second of silence, three of speech, and one of silence. */
const SPEECH = { start: 1.1, end: 3.9 };
const speech = () => samplesOf(speechClip('0880'), 'adelay=1000,apad=pad_dur=1');

/** Chords of four plucked notes that change every second, with a beat of noise. */
function music(folder: string, seconds: number): Int16Array {
  const chord = [110, 220, 277.2, 329.6].map((hertz) => `mod(t*${hertz}*(1+mod(floor(t),3)/8),1)-0.5`);
  const sound = `0.1*((${chord.join('+')})*exp(-2*mod(t,1))+(random(0)-0.5)*exp(-30*mod(t,0.5)))`;
  const path = join(folder, 'music.wav');
  ffmpeg('-f', 'lavfi', '-i', `aevalsrc=${sound.replaceAll(',', '\\,')}:s=48000:d=${seconds}`, path);
  return samplesOf(path);
}

const inSpeech = (samples: Int16Array) =>
  samples.subarray(2 * 48_000 * SPEECH.start, 2 * 48_000 * SPEECH.end);
const product = (one: Int16Array, other: Int16Array) =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
const power = (samples: Int16Array) => product(inSpeech(samples), inSpeech(samples));
const gainOf = (decibels: number) => 10 ** (decibels / 20);

/** Speech, and music that is so many decibels quieter while there is speech. */
function mixAt(folder: string, quieter: number): { voice: Int16Array; under: Int16Array } {
  const voice = speech();
  const played = music(folder, voice.length / 2 / 48_000).subarray(0, voice.length);
  const gain = Math.sqrt(power(voice) / power(played)) * gainOf(-quieter);
  return { voice, under: played.map((value) => Math.round(value * gain)) };
}

const sum = (one: Int16Array, other: Int16Array, gain = 1) =>
  one.map((value, at) => Math.round(value + gain * (other[at] ?? 0)));

const measure = (vocals: Int16Array, background: Int16Array) =>
  measureResidue(soundOf(vocals, 2), soundOf(background, 2), [SPEECH]);

describe('of a perfect separation', () => {
  test.each([0, 12])('under music %i dB quieter than the speech, nothing is noticed', async (quieter) => {
    const { voice, under } = mixAt(makeFolder(), quieter);
    expect(await measure(voice, under)).toBeLessThan(-25);
  });

  test.each([-5, -23])('that leaves the voice at %i dB, this level is measured', async (left) => {
    const { voice, under } = mixAt(makeFolder(), 6);
    expect(await measure(voice, sum(under, voice, gainOf(left)))).toBeCloseTo(left, 0);
  });
});

test('a silent voice, and a time without speech, have no residue', async () => {
  const { voice, under } = mixAt(makeFolder(), 0);
  expect(await measure(new Int16Array(voice.length), under)).toBeNull();
  expect(await measureResidue(soundOf(voice, 2), soundOf(under, 2), [])).toBeNull();
});

test.each([
  { quieter: 0, isNoticed: true },
  { quieter: 6, isNoticed: false },
])(
  'of the built-in separator with music $quieter dB quieter than speech: noticed $isNoticed',
  async ({ quieter, isNoticed }) => {
    const folder = makeFolder();
    const { voice, under } = mixAt(folder, quieter);
    const sound = join(folder, 'sound.wav');
    const file = await createWav(sound, { sampleRate: 48_000, channels: 2 });
    await file.write(sum(voice, under));
    await file.close();
    const video = join(folder, 'talk.mov');
    const picture = [
      '-f',
      'lavfi',
      '-i',
      `color=black:s=16x16:r=1:d=${voice.length / 2 / 48_000}`,
      '-c:v',
      'mjpeg',
    ];
    ffmpeg('-i', sound, ...picture, '-c:a', 'pcm_s16le', video);
    const { background, residue } = await separateSound(
      await stepEngines(),
      video,
      false,
      createWork(folder),
    );
    const left = product(inSpeech(samplesOf(background)), inSpeech(voice)) / power(voice);
    const truth = 20 * Math.log10(left);
    // What the masks take of the music is counted as voice.
    expect(residue).toBeGreaterThan(truth - 1);
    expect(residue).toBeLessThan(truth + 4);
    expect((residue ?? 0) > NOTICED_RESIDUE).toBe(isNoticed);
  },
);
