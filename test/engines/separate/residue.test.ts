/** What is left of the voice in the background: measured from the stems alone, compared with the voice that was mixed. */
import { expect, test } from 'vitest';
import { measureResidue } from '../../../src/engines/separate/residue.ts';
import { askProgram } from '../../support/remembered-programs.ts';
import { speechClip } from '../workspace.ts';
import { samplesOf, soundOf } from './sound.ts';

/** A second of silence, three of speech, and one of silence. */
const SPEECH = { start: 1.1, end: 3.9 };

/** Chords of four plucked notes that change every second, with a beat of noise. */
function music(seconds: number): Int16Array {
  const chord = [110, 220, 277.2, 329.6].map((hertz) => `mod(t*${hertz}*(1+mod(floor(t),3)/8),1)-0.5`);
  const sound = `0.1*((${chord.join('+')})*exp(-2*mod(t,1))+(random(0)-0.5)*exp(-30*mod(t,0.5)))`;
  const source = `aevalsrc=${sound.replaceAll(',', '\\,')}:s=48000:d=${seconds}`;
  const bytes = askProgram('ffmpeg', [
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    source,
    '-ac',
    '2',
    '-f',
    's16le',
    '-',
  ]);
  return new Int16Array(new Uint8Array(bytes).buffer);
}

const inSpeech = (samples: Int16Array) =>
  samples.subarray(2 * 48_000 * SPEECH.start, 2 * 48_000 * SPEECH.end);
const product = (one: Int16Array, other: Int16Array) =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
const power = (samples: Int16Array) => product(inSpeech(samples), inSpeech(samples));
const gainOf = (decibels: number) => 10 ** (decibels / 20);

const voice = samplesOf(speechClip('0880'), 'adelay=1000,apad=pad_dur=1');
const played = music(voice.length / 2 / 48_000).subarray(0, voice.length);

/** The music, so many decibels quieter than the speech while there is speech. */
function musicAt(quieter: number): Int16Array {
  const gain = Math.sqrt(power(voice) / power(played)) * gainOf(-quieter);
  return played.map((value) => Math.round(value * gain));
}

const sum = (one: Int16Array, other: Int16Array, gain = 1) =>
  one.map((value, at) => Math.round(value + gain * (other[at] ?? 0)));

const measure = (vocals: Int16Array, background: Int16Array) =>
  measureResidue(soundOf(vocals, 2), soundOf(background, 2), [SPEECH]);

test('of a perfect separation, nothing is noticed', async () => {
  for (const quieter of [0, 12]) expect(await measure(voice, musicAt(quieter))).toBeLessThan(-25);
});

test('of a separation that leaves the voice at a level, this level is measured', async () => {
  const under = musicAt(6);
  for (const left of [-5, -23])
    expect(await measure(voice, sum(under, voice, gainOf(left)))).toBeCloseTo(left, 0);
});

test('a silent voice, and a time without speech, have no residue', async () => {
  const under = musicAt(0);
  expect(await measure(new Int16Array(voice.length), under)).toBeNull();
  expect(await measureResidue(soundOf(voice, 2), soundOf(under, 2), [])).toBeNull();
});
