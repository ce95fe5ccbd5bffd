/** How fast a cue must be read: in characters a second, by the writing that it is in. */

export type Script = 'latin' | 'chinese' | 'japanese' | 'korean';

/**
 * Characters a second that adults read in comfort; `latin` stands for all alphabets.
 * Source: Netflix Timed Text Style Guides, "Reading Speed Limits".
 */
export const COMFORTABLE_SPEED: Record<Script, number> = { latin: 20, chinese: 9, japanese: 4, korean: 12 };

/** The writing that more than half of the letters are in; any kana makes Chinese characters Japanese. */
export function scriptOf(text: string): Script {
  const count = (letters: RegExp) => text.match(letters)?.length ?? 0;
  const hangul = count(/\p{Script=Hangul}/gu);
  const kana = count(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu);
  const han = count(/\p{Script=Han}/gu);
  if (hangul + kana + han <= count(/\p{L}/gu) / 2) return 'latin';
  if (hangul > kana + han) return 'korean';
  return kana > 0 ? 'japanese' : 'chinese';
}

/** Characters a second without line breaks; of alphabets spaces and punctuation count too, as subtitlers count. */
export function readingSpeed(text: string, script: Script, milliseconds: number): number {
  const counted = script === 'latin' ? text.replaceAll('\n', ' ') : text.replace(/[\s\p{P}]/gu, '');
  return ([...counted].length * 1000) / milliseconds;
}
