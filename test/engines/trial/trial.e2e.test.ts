/** The samples with engines that answer wrongly; those that answer well are tried by test/commands/engines/engines-test.e2e.test.ts. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chrF } from '../../../src/base/chrf.ts';
import type { Recognizer, Separator, Speaker, Translator } from '../../../src/engines/backend.ts';
import { SENTENCES } from '../../../src/engines/trial/sentences.ts';
import { countWordErrors, tryBackend } from '../../../src/engines/trial/trial.ts';
import { createWav, openWav, parseWavHeader } from '../../../src/media/audio/wav.ts';
import type { Clip } from '../../../src/media/work.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { programs } from '../workspace.ts';

/** Each look at the clock is half a second later. */
function createParts(languages: readonly string[] = []) {
  let ms = 0;
  const now = () => {
    ms += 500;
    return ms;
  };
  return { programs, now, languages, folder: makeFolder(), signal: new AbortController().signal };
}

const NAMED = { name: 'mine', concurrency: 1, close: async () => {} };

describe('the speech of the sample', () => {
  const recognizer = (text: string, languages: readonly string[]): Recognizer => ({
    ...NAMED,
    languages: async () => languages,
    recognize: async ({ voice, segments, language }) => {
      const head = readFileSync(voice);
      expect(parseWavHeader(head, head.length)).toMatchObject({ sampleRate: 16_000, channels: 1 });
      expect(segments).toEqual([{ start: 0, end: 7.1 }]);
      const words = text
        .split(' ')
        .flatMap((word) => (word === '' ? [] : [{ text: word, start: 0, end: 1, segment: 0 }]));
      return { language, words, punctuated: false };
    },
  });

  it('is compared by wrong words and timed', async () => {
    const heard = 'And Mr. John Dashwood had then leisure';
    const trial = await tryBackend('recognize', recognizer(heard, ['es', 'en-US']), createParts());
    expect(trial).toEqual({
      language: 'en-US',
      output: heard,
      wordErrorRate: 15 / 22,
      chrF: null,
      understood: null,
      memoryBytes: null,
      seconds: 0.5,
      realTimeFactor: 0.5 / 7.1,
    });
  });

  it('says nothing about an engine for another language', async () => {
    for (const [supported, used] of [
      [['es', 'ca'], []],
      [['en', 'es'], ['es']],
    ] as const) {
      const trial = await tryBackend('recognize', recognizer('', supported), createParts(used));
      expect(trial).toMatchObject({ language: 'es', wordErrorRate: null, output: '' });
    }
  });

  it('must be recognized at all', async () => {
    const parts = createParts();
    await expect(tryBackend('recognize', recognizer('', ['en']), parts)).rejects.toThrow(
      'mine recognized no word in clear English speech',
    );
    await expect(tryBackend('recognize', recognizer('a', []), parts)).rejects.toThrow('supports no language');
  });
});

const translator = (translate: (text: string) => string, to: readonly string[]): Translator => ({
  ...NAMED,
  supports: async (pair) => pair.from === 'en' && to.includes(pair.to),
  pairs: async () => to.map((each) => ({ from: 'en', to: each })),
  keepsMarkup: false,
  punctuates: true,
  seesNeighbours: true,
  detect: null,
  translate: async ({ texts }) => texts.map(({ text }) => translate(text)),
});

describe('the sentences of the sample', () => {
  it('are translated to the language that the engine is used for, else to a common one, else to any', async () => {
    const targetOf = async (to: readonly string[], used: readonly string[] = []) =>
      tryBackend(
        'translate',
        translator(() => 'x', to),
        createParts(used),
      );
    expect(await targetOf(['fr', 'es', 'gl'], ['en', 'gl'])).toMatchObject({
      language: 'en to gl',
      output: 'x x x',
    });
    expect(await targetOf(['gl', 'es'])).toMatchObject({ language: 'en to es' });
    expect(await targetOf(['gl'])).toMatchObject({ language: 'en to gl' });
    expect(await targetOf([])).toEqual({
      skipped: expect.stringContaining('does not translate from English'),
    });
  });

  it('must all be translated', async () => {
    const attempt = (translate: (text: string) => string) =>
      tryBackend('translate', translator(translate, ['es']), createParts());
    await expect(attempt((text) => text)).rejects.toThrow('mine returned every sentence as it was');
    await expect(attempt((text) => (text.startsWith('Please') ? ' ' : 'x'))).rejects.toThrow(
      'mine left a sentence without a translation',
    );
  });
});

describe('a measurement', () => {
  const listen = async () => null;

  it('translates forty sentences where people have translated them', async () => {
    const texts: number[] = [];
    const engine = translator((text) => text.toUpperCase(), ['fr', 'gl']);
    const counting: Translator = {
      ...engine,
      translate: async (task, work) => {
        texts.push(task.texts.length);
        return engine.translate(task, work);
      },
    };
    expect(await tryBackend('translate', counting, { ...createParts(['fr']), listen })).toMatchObject({
      language: 'en to fr',
      chrF: expect.closeTo(3, -1),
    });
    expect(await tryBackend('translate', counting, { ...createParts(['gl']), listen })).toMatchObject({
      language: 'en to gl',
      chrF: null,
    });
    expect(texts).toEqual([40, 3]);
  });

  it('has translations of all sentences', () => {
    for (const sentences of Object.values(SENTENCES)) expect(new Set(sentences).size).toBe(40);
  });
});

describe('the voice', () => {
  const speaker = (clip: Clip, languages: readonly string[] = ['en']): Speaker => ({
    ...NAMED,
    voices: async () => languages.map((language) => ({ language, voices: [] })),
    supports: async (language) => languages.includes(language),
    mostSpeed: 1,
    isLevel: false,
    speak: async ({ text, language }) => {
      expect(text).toMatch(language === 'en' ? /john dashwood/ : /^1, 2, 3/);
      return clip;
    },
  });
  const tone = (seconds: number, amplitude: number): Clip => ({
    sampleRate: 8000,
    samples: Int16Array.from({ length: seconds * 8000 }, (_, at) => (at % 2 === 0 ? amplitude : -amplitude)),
  });

  it('reads digits in a language other than that of the sample', async () => {
    const trial = await tryBackend('speak', speaker(tone(1, 3277), ['es']), createParts());
    expect(trial).toMatchObject({
      language: 'es',
      output: '1.0 s of speech, 8000 Hz, -20 dB',
      realTimeFactor: 0.5,
    });
  });

  it.each([
    [tone(0.1, 3277), 'mine spoke only 0.10 s'],
    [tone(0, 0), 'mine spoke only 0.00 s'],
    [tone(61, 3277), 'mine spoke 61 s for one sentence'],
    [tone(2, 1), 'mine returned silence'],
  ])('is refused for a clip without speech', async (clip, message) => {
    await expect(tryBackend('speak', speaker(clip), createParts())).rejects.toThrow(message);
  });

  it('is refused without a language', async () => {
    await expect(tryBackend('speak', speaker(tone(1, 3277), []), createParts())).rejects.toThrow(
      'mine has no voice for any language',
    );
  });
});

describe('speech with noise', () => {
  const separator = (
    make: (mix: string, folder: string) => Promise<readonly [string, string]>,
  ): Separator => ({
    ...NAMED,
    separate: async ({ mix, withVoice }, { folder }) => {
      expect(withVoice).toBe(false);
      const [vocals, background] = await make(mix, folder);
      return { vocals, background, speech: null };
    },
  });
  /** The mix with its samples changed. */
  const changed = async (mix: string, folder: string, change: (samples: Int16Array) => Int16Array) => {
    const { read, close, ...format } = await openWav(mix);
    const samples = await read(0, format.frames);
    const path = join(folder, 'changed.wav');
    const file = await createWav(path, format);
    await file.write(change(samples.slice()));
    await file.close();
    await close();
    return path;
  };

  it('shows by how much the noise is lower in the voice', async () => {
    const gate = separator(async (mix, folder) => [
      await changed(mix, folder, (samples) =>
        samples.map((value, at) => (at < 2 * 48_000 ? value / 10 : value)),
      ),
      mix,
    ]);
    const trial = await tryBackend('separate', gate, createParts());
    expect(trial).toMatchObject({ language: '', output: 'noise in the voice 20 dB lower' });
  });

  it('must be returned whole and not silent', async () => {
    const half = separator(async (mix, folder) => [
      mix,
      await changed(mix, folder, (samples) => samples.subarray(0, 2 * 48_000 * 4)),
    ]);
    await expect(tryBackend('separate', half, createParts())).rejects.toThrow(
      'mine wrote 4.0 s of background for 8.1 s of sound',
    );
    const mute = separator(async (mix, folder) => [
      await changed(mix, folder, (samples) => samples.fill(0)),
      mix,
    ]);
    await expect(tryBackend('separate', mute, createParts())).rejects.toThrow('mine wrote a silent voice');
  });
});

it('wrong words are those to change, add or remove, whatever their capitals and punctuation', () => {
  expect(countWordErrors('he was not ill', 'He was not ill.')).toBe(0);
  expect(countWordErrors('he was not ill', 'he is not so')).toBe(0.5);
  expect(countWordErrors('he was not ill', '')).toBe(1);
  expect(countWordErrors('he was', 'and then he was there too')).toBe(2);
});

it('translations agree by their characters, spaces aside', () => {
  expect(chrF(['The cat sat.'], ['The cat sat.'])).toBe(100);
  expect(chrF(['Thecat sat.'], ['The cat sat.'])).toBe(100);
  expect(chrF(['xyz'], ['abc'])).toBe(0);
  expect(chrF([''], ['abc'])).toBe(0);
  // Orders 1 to 4 of "abcd" and "abce": 3 of 4, 2 of 3, 1 of 2, 0 of 1 agree.
  expect(chrF(['abcd'], ['abce'])).toBeCloseTo((100 * (3 / 4 + 2 / 3 + 1 / 2)) / 4, 6);
  // Twice as long: recall 1, precision 1/2 for single characters.
  expect(chrF(['ab'], ['a'])).toBeCloseTo((100 * 5 * 0.5) / (4 * 0.5 + 1), 6);
});

it('a voice is heard by a recognizer', async () => {
  const said: string[] = [];
  const voice: Speaker = {
    ...NAMED,
    ...{
      mostSpeed: 1,
      isLevel: false,
      voices: async () => [],
      supports: async (language) => language === 'es',
    },
    speak: async ({ text }) => {
      said.push(text);
      return { sampleRate: 8000, samples: new Int16Array(8000).fill(3277) };
    },
  };
  const first = SENTENCES.es?.slice(0, 3).join(' ') ?? '';
  const listen = async () => first.split(' ').slice(0, -6).join(' ').toUpperCase();
  const trial = await tryBackend('speak', voice, { ...createParts(['es']), listen });
  expect(said).toEqual([first]);
  expect(trial).toMatchObject({ understood: expect.closeTo(1 - 6 / first.split(' ').length, 5) });
});
