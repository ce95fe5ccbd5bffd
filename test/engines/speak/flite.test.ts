import { describe, expect, test } from 'vitest';
import type { VoiceMode } from '../../../src/engines/backend.ts';
import { chooseBackend } from '../../../src/engines/choose.ts';
import { createFlite, toAscii } from '../../../src/engines/speak/flite.ts';
import { clipSeconds } from '../../../src/media/audio/clip.ts';
import { createPrograms } from '../../../src/media/programs/programs.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { pathWithout } from '../../support/path-without.ts';
import { createWork, programs, stepEngines } from '../workspace.ts';

const installed = createPrograms(process.env.PATH ?? '');
const hasFlite = installed.locate('flite') !== null;

const say = (text: string, voiceMode: VoiceMode = 'auto', speed = 1) =>
  createFlite(installed).speak(
    { text, language: 'en', voiceMode, speed },
    { folder: makeFolder(), signal: new AbortController().signal },
  );
const seconds = async (text: string, speed?: number) => clipSeconds(await say(text, 'auto', speed));

/** Who speaks a dub, and who was named as skipped for it. */
async function speakerOf(targetLanguage: string, programsOfEngines = programs) {
  const { speak } = await stepEngines(null, programsOfEngines);
  const work = createWork(makeFolder());
  const { use } = await chooseBackend(
    'speak',
    speak,
    (voice) => voice.supports(targetLanguage, work),
    async () => new JobFailure('LANGUAGE_NOT_SUPPORTED', targetLanguage),
  );
  return [use.engine, ...use.skipped];
}

test.each([
  ['“Don’t,” he said — ‘never’…', `"Don't," he said, 'never'...`],
  ['café, naïve, São Paulo, Łódź, Åse Straße', 'cafe, naive, Sao Paulo, Lodz, Ase Strasse'],
  ['½ of 20 °C for 5 € at ﬁve', '1/2 of 20 degrees C for 5 euros at five'],
  ['Мир ♪ 😀 hello', 'hello'],
])('%j is written for flite as %j', (text, plain) => {
  expect(toAscii(text)).toBe(plain);
});

test('English is spoken by espeak-ng where flite is not installed, and nothing is said to be skipped', async () => {
  expect(await speakerOf('en', createPrograms(pathWithout('flite')))).toEqual(['espeak-ng']);
});

describe.skipIf(!hasFlite)('flite', () => {
  test('speaks English of all regions, and no other language', async () => {
    expect(await speakerOf('en-GB')).toEqual(['flite']);
    expect(await speakerOf('es')).toEqual(['espeak-ng']);
  });

  test('receives text that is no option, no file and no markup for it, and is silent for other alphabets', async () => {
    expect(await seconds('Мир. 世界')).toBe(0);
    expect(await seconds('--version')).toBeGreaterThan(0.2);
    expect(await seconds('/etc/passwd')).toBeLessThan(6);
    expect(await seconds('a <break time="5s"/> b')).toBeLessThan(5);
  });

  test('speaks faster in proportion, and all of a long text', async () => {
    const text = 'He was not an ill disposed young man, unless to be rather cold hearted. '.repeat(2);
    const natural = await seconds(text);
    expect(natural / (await seconds(text, 1.5))).toBeCloseTo(1.5, 1);
    expect(natural).toBeGreaterThan(6);
  });
});
