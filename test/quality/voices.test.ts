/** Languages of the built-in voice: whether it reads them, or spells their characters in English. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { listVoices } from '../../src/engines/speak/voices.ts';
import { programs, temporaryFolder } from '../engines/workspace.ts';
import { report } from './report.ts';

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
      folder: temporaryFolder(),
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
