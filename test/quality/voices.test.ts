/** The built-in voices: whether English is understood, and whether they read other languages or spell their characters in English. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Speaker, VoiceMode } from '../../src/engines/backend.ts';
import { wordsToCues } from '../../src/engines/recognize/cues.ts';
import { createPocketSphinx } from '../../src/engines/recognize/pocketsphinx.ts';
import { createEspeak } from '../../src/engines/speak/espeak.ts';
import { createFlite } from '../../src/engines/speak/flite.ts';
import { speakDub } from '../../src/engines/speak/speak.ts';
import { listVoices } from '../../src/engines/speak/voices.ts';
import { translateSubtitle } from '../../src/engines/translate/translate.ts';
import { SPEECH_FORMAT } from '../../src/media/audio/decode-audio.ts';
import { createWav } from '../../src/media/audio/wav.ts';
import { createWork, ffmpeg, programs, stepEngines } from '../engines/workspace.ts';
import { makeFolder } from '../support/make-folder.ts';
import { wordErrorRate } from '../support/words.ts';
import { HAS_CLIPS, NEEDED, type SpeechSet, speak } from './clips.ts';
import { FIGURE, report } from './report.ts';

/** Seconds before, between and after the texts; half of it counts as a part of each. */
const PAUSE = 0.5;

/** Percent of the words of these recordings that PocketSphinx misunderstands when a voice speaks them. */
async function misunderstood(
  speaker: Speaker,
  voiceMode: VoiceMode,
  ...sets: readonly Parameters<typeof speak>[]
): Promise<number> {
  const said = sets.flatMap((set) => speak(...set).said.map(({ words }) => words));
  const work = createWork(makeFolder());
  const [spoken, voice] = [join(work.folder, 'spoken.wav'), join(work.folder, 'voice.wav')];
  const segments: { start: number; end: number }[] = [];
  let track: Awaited<ReturnType<typeof createWav>> | null = null;
  for (const words of said) {
    const request = { text: `${words}.`, language: 'en', voiceMode, speed: 1 };
    const { samples, sampleRate } = await speaker.speak(request, work);
    track ??= await createWav(spoken, { sampleRate, channels: 1 });
    const silence = new Int16Array((sampleRate * PAUSE) / 2);
    await track.write(silence);
    const start = track.frames / sampleRate;
    for (const part of [silence, samples, silence]) await track.write(part);
    segments.push({ start, end: track.frames / sampleRate });
    await track.write(silence);
  }
  await track?.close();
  ffmpeg('-i', spoken, '-ar', String(SPEECH_FORMAT.sampleRate), voice);
  const { words } = await createPocketSphinx(programs).recognize({ voice, segments, language: 'en' }, work);
  // The dictionary of the recognizer spells a title as it is written.
  const plain = (texts: readonly string[]) => texts.join(' ').toLowerCase().replaceAll('mister', 'mr');
  return 100 * wordErrorRate(plain(said), plain(words.map(({ text }) => text)));
}

/** Thresholds leave a few words for other versions of the programs and models. */
describe.skipIf(!HAS_CLIPS)(`the words of an English voice (${NEEDED})`, () => {
  test.each([
    ['flite rms', createFlite(programs), 'male', 15],
    ['flite slt', createFlite(programs), 'female', 23],
    ['espeak-ng', createEspeak(programs), 'male', 85],
    ['espeak-ng +f2', createEspeak(programs), 'female', 60],
  ] as const)('%s are understood by PocketSphinx', FIGURE, async (name, speaker, voiceMode, most) => {
    const wrong = await misunderstood(speaker, voiceMode, ['heldOut'], ['librivox']);
    report(`words misunderstood by PocketSphinx: ${name}`, wrong, '%');
    expect(wrong).toBeLessThan(most);
  });

  // A few words of one voice: nonsense is noticed, and the figures come from all.
  test('a sentence of flite slt is understood by PocketSphinx', async () => {
    const wrong = await misunderstood(createFlite(programs), 'female', ['librivox', ['0930']]);
    report('words of a sentence misunderstood by PocketSphinx: flite slt', wrong, '%');
    expect(wrong).toBeLessThan(30);
  });
});

/** Names of months, days and languages in a language, for which the data of Unicode are there. */
function wordsOf(language: string): string[] {
  const day = new Intl.DateTimeFormat(language, { weekday: 'long' });
  const month = new Intl.DateTimeFormat(language, { month: 'long' });
  const names = new Intl.DisplayNames([language], { type: 'language' });
  return [
    ...Array.from({ length: 7 }, (_, at) => day.format(new Date(2026, 0, 1 + at))),
    ...Array.from({ length: 12 }, (_, at) => month.format(new Date(2026, at, 1))),
    ...['en', 'fr', 'de', 'es', 'ru', 'ar', 'hi', 'tr'].map((tag) => names.of(tag) ?? tag),
  ];
}

/** How often espeak-ng changes to English, as it does to say "Chinese letter", for each word; 1 at most. */
function foreignShare(voice: string, language: string): number {
  const words = wordsOf(language);
  const phonemes = execFileSync('espeak-ng', ['-v', voice, '-q', '-x', '--stdin'], {
    input: `${words.join('\n')}\n`,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  return Math.min(1, (phonemes.match(/\(en\)/g)?.length ?? 0) / words.length);
}

describe('the built-in voice', () => {
  test('reads all its languages with their own sounds', async () => {
    const voices = await listVoices(programs, {
      folder: makeFolder(),
      signal: AbortSignal.timeout(60_000),
    });
    const known = voices.filter(
      ({ language }) => Intl.DateTimeFormat.supportedLocalesOf([language]).length > 0,
    );
    expect(known.length).toBeGreaterThan(60);
    const shares = known.map(({ name, language }) => foreignShare(name, language));
    report(
      `words read in English instead, in the worst of ${known.length} languages`,
      100 * Math.max(...shares),
      '%',
    );
    expect(Math.max(...shares)).toBeLessThan(0.15);
  });

  test('would spell Japanese, and read Mandarin in English with the first voice of espeak-ng', () => {
    report('words spelled in English: Japanese, which is refused', 100 * foreignShare('ja', 'ja'), '%');
    report('words read in English: Mandarin, first voice', 100 * foreignShare('cmn', 'zh'), '%');
    expect(foreignShare('ja', 'ja')).toBeGreaterThan(0.5);
  });
});

/** The value that a share of the others is not above. */
function quantile(values: readonly number[], share: number): number {
  return values.toSorted((one, other) => one - other)[Math.floor(share * values.length)] ?? 0;
}

describe.skipIf(!HAS_CLIPS)(`a dub in Spanish (${NEEDED})`, () => {
  const isCalm = async (sets: readonly SpeechSet[]) => {
    // Their words, spread evenly over their time: what a recognizer without mistakes would hear.
    const lines = sets.flatMap((set, place) => {
      const words = speak(set).said.flatMap(({ words: text, start, end }, segment) =>
        text.split(' ').map((word, at, all) => {
          const step = (end - start) / all.length;
          return { text: word, start: start + at * step, end: start + (at + 1) * step, segment };
        }),
      );
      const moved = place * 300_000;
      return wordsToCues(words, false).map((cue) => ({
        ...{ ...cue, start_ms: cue.start_ms + moved, end_ms: cue.end_ms + moved },
      }));
    });
    const cues = lines.map((line, at) => ({ ...line, index: at + 1 }));
    const engines = await stepEngines();
    const work = createWork(makeFolder());
    const task = { lines: cues, sourceLanguage: 'en', targetLanguage: 'es' };
    const { subtitle } = await translateSubtitle(engines, task, work);
    const { fits } = await speakDub(
      engines,
      { lines: subtitle.lines, targetLanguage: 'es', voiceMode: 'auto' },
      work,
    );
    const fast = fits.filter(({ speed, tempo }) => speed * tempo > 1.1).flatMap((fit) => fit.cues);
    const later = fits.flatMap(({ shifts }) => shifts.slice(1)).map((shift) => 1000 * Math.abs(shift));
    const far = later.filter((shift) => shift > 600);
    report(`cues of a dub in Spanish above 1.1 times the natural tempo, of ${cues.length}`, fast.length, '');
    report('greatest tempo', Math.max(...fits.map(({ speed, tempo }) => speed * tempo)), '');
    report(`later cues of a sentence from their time, median of ${later.length}`, quantile(later, 0.5), 'ms');
    report('later cues of a sentence from their time, 90 % within', quantile(later, 0.9), 'ms');
    report('later cues of a sentence more than 0.6 s from their time', far.length, '');
    expect(fits.filter(({ fit }) => fit === 'cut')).toEqual([]);
    expect(quantile(later, 0.5)).toBeLessThan(500);
  };
  const title = 'of %j is not hurried, and later cues of a sentence are near their time';
  test.each<[SpeechSet[]]>([[['heldOut']]])(title, isCalm);
  test.each<[SpeechSet[]]>([[['heldOut', 'tuning', 'librivox']]])(title, FIGURE, isCalm);
});
