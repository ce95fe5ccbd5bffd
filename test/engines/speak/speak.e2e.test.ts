import { describe, expect, test } from 'vitest';
import type { Speaker } from '../../../src/engines/backend.ts';
import { createEspeak } from '../../../src/engines/speak/espeak.ts';
import { speakDub } from '../../../src/engines/speak/speak.ts';
import { audibleSeconds } from '../../../src/media/audio/audible.ts';
import { clipSeconds } from '../../../src/media/audio/clip.ts';
import { openWav } from '../../../src/media/audio/wav.ts';
import { truePeak } from '../../support/audio.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { createWork, ffprobe, programs, stepEngines } from '../workspace.ts';

const line = (index: number, start_ms: number, end_ms: number, text: string) => ({
  index,
  start_ms,
  end_ms,
  text,
});

const engines = stepEngines();

async function dub(lines: ReturnType<typeof line>[], language = 'es') {
  const task = { lines, targetLanguage: language, voiceMode: 'auto' } as const;
  return speakDub(await engines, task, createWork(makeFolder()));
}

/** Dubs with a voice that knows no speed, and says each letter as 0.1 s of a tone. */
async function spell(lines: ReturnType<typeof line>[], video: { videoSeconds?: number } = {}) {
  const said: string[] = [];
  const backend: Speaker = {
    ...{ name: 'spelling', concurrency: 1, mostSpeed: 1, isLevel: true, close: async () => {} },
    voices: async () => [],
    supports: async () => true,
    speak: async ({ text }) => {
      said.push(text);
      const tone = Array.from({ length: 800 * text.length }, (_, at) => 8_000 * Math.sin(at / 3));
      return { sampleRate: 8_000, samples: Int16Array.from(tone) };
    },
  };
  const spelling = { ...(await engines), speak: [{ backend, fallback: true }] };
  const task = { lines, targetLanguage: 'es', voiceMode: 'auto', ...video } as const;
  return { said, ...(await speakDub(spelling, task, createWork(makeFolder()))) };
}

const say = (text: string, language: string, speed = 1) =>
  createEspeak(programs).speak(
    { text, language, voiceMode: 'auto', speed },
    { folder: makeFolder(), signal: new AbortController().signal },
  );
const secondsOf = async (...of: Parameters<typeof say>) => clipSeconds(await say(...of));

/** Whole track, as numbers. */
async function trackOf(path: string): Promise<{ samples: Int16Array; sampleRate: number }> {
  const wav = await openWav(path);
  const samples = (await wav.read(0, wav.frames)).slice();
  await wav.close();
  return { samples, sampleRate: wav.sampleRate };
}

/** The first sound at or after a time, in seconds. */
function onsetAfter(
  { samples, sampleRate }: { samples: Int16Array; sampleRate: number },
  time: number,
): number {
  const from = Math.round(time * sampleRate);
  return (from + samples.subarray(from).findIndex((sample) => Math.abs(sample) > 200)) / sampleRate;
}

const CUES = [
  line(1, 1_000, 3_000, 'Buenos días a todos.'),
  line(2, 3_500, 4_000, 'Esta frase es demasiado larga para el tiempo que tiene, así que se habla deprisa.'),
  line(3, 5_200, 9_000, 'Fin.'),
];

describe('a dub', () => {
  test('is 48 kHz mono, begins each text within 10 ms of its cue, or 0.3 s early if it does not fit, is silent between them, and fits each into its slot', async () => {
    const { path, fits, durationSeconds } = await dub(CUES);
    expect(durationSeconds).toBeCloseTo(9, 3);
    expect(ffprobe(path, 'stream=sample_rate,channels:format=duration')).toBe('48000\n1\n9.000000');
    const track = await trackOf(path);
    expect(onsetAfter(track, 0)).toBeCloseTo(1, 2);
    expect(fits.map(({ shifts }) => shifts)).toEqual([[0], [-0.3], [0]]);
    for (const [
      at,
      {
        shifts: [shift = 0],
      },
    ] of fits.entries()) {
      const start = (CUES[at]?.start_ms ?? 0) / 1000 + shift;
      expect(Math.abs(onsetAfter(track, start - 0.09) - start)).toBeLessThan(0.01);
    }
    // Each text fits into its slot.
    expect(fits.map((fit) => fit.cues)).toEqual([[1], [2], [3]]);
    for (const fit of fits) expect(fit.seconds).toBeLessThanOrEqual(fit.allowedSeconds);
    // The one between cannot fit in any way, so its neighbours are not hastened.
    const tempos = fits.map(({ speed, tempo }) => speed * tempo);
    expect([tempos[0], fits[1]?.fit, tempos[2]]).toEqual([1, 'cut', 1]);
    expect(tempos[1]).toBeLessThanOrEqual(1.6);
    // The voice itself speaks faster; only what it does inexactly is stretched.
    expect(fits[1]?.speed).toBeGreaterThan(1.3);
  });

  test('names only the cues of a sentence that have lost words', async () => {
    const text =
      'muchas palabras que nadie puede decir en tan poco tiempo, ni siquiera deprisa y sin pausas.';
    const { fits } = await spell([
      line(1, 0, 2_000, 'No quiero'),
      line(2, 2_100, 3_000, text),
      line(3, 3_100, 4_000, 'Fin.'),
    ]);
    expect(fits.map(({ cues, fit }) => [cues, fit])).toEqual([
      [[1], 'tempo'],
      [[2], 'cut'],
      [[3], 'none'],
    ]);
    expect(fits[0]?.cutSeconds).toBe(0);
  });

  test('goes on with a cue that is near where a sentence pauses', async () => {
    const first = 'Llega los lunes por la tarde,';
    const seconds = await secondsOf(first, 'es');
    const start = Math.round(1000 * (seconds + 0.3));
    const lines = [
      line(1, 0, start - 100, first),
      line(2, start, start + 3_000, 'si el barco no se retrasa.'),
    ];
    const { path, fits } = await dub(lines);
    expect(fits[0]).toMatchObject({ cues: [1, 2], fit: 'none', shifts: [0, expect.closeTo(0, 2)] });
    const { samples, sampleRate } = await trackOf(path);
    const before = samples.subarray(
      Math.round((start / 1000 - 0.1) * sampleRate),
      Math.round((start / 1000 - 0.01) * sampleRate),
    );
    expect(before.every((sample) => Math.abs(sample) < 200)).toBe(true);
    expect(onsetAfter({ samples, sampleRate }, start / 1000 - 0.09)).toBeCloseTo(start / 1000, 2);
  });

  test('ends a text that does not fit at 1.6 times its tempo after a whole word', async () => {
    const text = 'uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince.';
    const { path, fits, said } = await spell([line(1, 0, 3_000, text), line(2, 3_000, 4_000, 'Fin.')]);
    expect(said).toEqual([text, 'Fin.', 'uno dos tres cuatro cinco seis siete ocho']);
    const [fit] = fits;
    expect(fit).toMatchObject({ fit: 'cut', speed: 1, tempo: expect.closeTo(1.6, 1) });
    // The sound ends 0.1 s before the next text, and close to that: as many words as fit.
    expect(fit?.seconds).toBeLessThanOrEqual(2.9);
    expect(fit?.seconds).toBeGreaterThan(2.2);
    expect((fit?.seconds ?? 0) + (fit?.cutSeconds ?? 0)).toBeGreaterThan(3);
    const { samples, sampleRate } = await trackOf(path);
    const pause = samples.subarray(Math.round(2.92 * sampleRate), Math.round(2.98 * sampleRate));
    expect(pause.every((sample) => Math.abs(sample) < 200)).toBe(true);
  });

  test('ends with the video: its last sentence is spoken faster, and what is left of it is cut', async () => {
    const last = line(1, 12_900, 14_000, 'Y esta es la última frase de todo el video.');
    const { path, fits } = await spell([last, line(2, 14_200, 15_000, 'Y otra.')], { videoSeconds: 14 });
    expect(await audibleSeconds(path, 14)).toBe(0);
    expect(fits.map(({ cues, fit }) => [cues, fit])).toEqual([
      [[1], 'cut'],
      [[2], 'cut'],
    ]);
    expect(fits[0]?.seconds).toBeGreaterThan(0.6);
  });

  test('has no peak above -1 dBTP, whatever the voice has', async () => {
    const { path } = await dub([line(1, 0, 5_000, 'Papa patata popping, boom, 12 big bad bugs bit Bob!')]);
    expect(truePeak(path)).toBeLessThanOrEqual(-1);
  });

  test('of cues without words is silence', async () => {
    const { path, fits } = await dub([line(1, 0, 1_000, '♪ ♪')]);
    expect(fits).toEqual([]);
    expect((await trackOf(path)).samples.every((sample) => sample === 0)).toBe(true);
  });

  test('is refused for cues that nobody could speak: a book, or thousands at one time', async () => {
    await expect(dub([line(7, 0, 1_000, 'x'.repeat(5_001))])).rejects.toMatchObject({
      code: 'SUBTITLE_INVALID',
      message: expect.stringContaining('cue 7 '),
    });
    const crowd = Array.from({ length: 900 }, (_, at) => line(at + 1, 0, 1_000, 'hola a todos'));
    await expect(dub(crowd)).rejects.toMatchObject({ code: 'SUBTITLE_INVALID' });
  });

  test('is refused for a language without a voice, and beyond four hours', async () => {
    await expect(dub(CUES, 'tlh-Xxxx')).rejects.toMatchObject({ code: 'LANGUAGE_NOT_SUPPORTED' });
    await expect(dub(CUES, 'ja')).rejects.toMatchObject({
      code: 'LANGUAGE_NOT_SUPPORTED',
      message: expect.stringContaining('Japanese'),
    });
    const late = [line(1, 99 * 3_600_000, 99 * 3_600_000 + 1_000, 'tarde')];
    await expect(dub(late)).rejects.toMatchObject({ code: 'DURATION_EXCEEDED' });
  });
});

describe('outside text', () => {
  test('is not an option, markup or phonemes for the voice', async () => {
    expect(await secondsOf('--version', 'en-US')).toBeGreaterThan(0.2);
    expect(await secondsOf('[[h@loU]]', 'en-US')).toBeCloseTo(await secondsOf(' h@loU ', 'en-US'), 2);
    expect(await secondsOf('a <break time="5s"/> b', 'en-US')).toBeLessThan(4);
  });

  test('that is spoken slowly lasts longer, in proportion to its speed', async () => {
    const text = 'He was not an ill disposed young man, unless to be rather cold hearted.';
    const natural = await secondsOf(text, 'en-US');
    const fast = await secondsOf(text, 'en-US', 1.5);
    expect(natural / fast).toBeCloseTo(1.5, 0);
  });
});
