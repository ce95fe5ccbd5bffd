/** Lists the voices of espeak-ng and chooses one. */

import type { Programs } from '../../media/programs/programs.ts';
import type { EngineRun } from '../../media/work.ts';
import { baseLanguage, canonicalLanguage, languageName } from '../../protocol/language-tag.ts';
import { matchLanguage } from '../../protocol/languages.ts';
import type { VoiceMode } from '../backend.ts';

export interface Voice {
  /** BCP 47 tag. */
  readonly language: string;
  /** Its name in espeak-ng. */
  readonly name: string;
}

/**
 * The voices are synthetic: a variant shifts the pitch and the formants of any language. `f2` is understood better than the
 * voice without one, which is that of a man and better than `m3`; see docs/quality.md.
 */
const VARIANTS: Record<VoiceMode, string> = { auto: '', female: '+f2', male: '' };

/**
 * Languages that espeak-ng lists but spells instead of reading, because it has no dictionary of their characters: Japanese
 * and Hakka become "Chinese letter", Konkani the names of its vowel signs. Found by comparing the phonemes of all its
 * languages for the names of days, months and countries (espeak-ng 1.51).
 */
const SPELLED: ReadonlySet<string> = new Set(['ja', 'hak', 'kok']);

function isSpelled(language: string): boolean {
  return SPELLED.has(baseLanguage(canonicalLanguage(language) ?? language));
}

/** Returns a sentence without its full stop: that nothing speaks a language (BCP 47), why, and what could. */
export function noVoiceFor(language: string): string {
  const why = isSpelled(language)
    ? ': the built-in voice (espeak-ng) has no dictionary of its characters and would spell them'
    : '';
  return `there is no voice for ${languageName(language)}${why}; an engine of engines.json can speak it (vloc engines add)`;
}

/** Its first Mandarin voice reads Chinese characters as English words. This one reads them as Mandarin. */
const BETTER_VOICES: Readonly<Record<string, string>> = { cmn: 'cmn-latn-pinyin' };

/** Asks espeak-ng for its voices. @throws ProgramMissing */
export async function listVoices(programs: Programs, run: EngineRun): Promise<Voice[]> {
  const stdout = await programs.run('espeak-ng', ['--voices'], run);
  return parseVoices(stdout.toString('utf8'));
}

/**
 * Parses its table: priority, language, age and gender, name, file. The first voice of a language is the preferred one.
 * MBROLA voices are skipped, because they need data that the package does not include, and so are languages that it
 * cannot read.
 */
export function parseVoices(table: string): Voice[] {
  const rows = table
    .split('\n')
    .slice(1)
    .map((row) => row.trim().split(/\s+/));
  const names = new Set(rows.map(([, name]) => name));
  const voices = new Map<string, Voice>();
  for (const [, name = '', , , file = ''] of rows) {
    const language = canonicalLanguage(name);
    if (language === null || file.startsWith('mb/') || voices.has(language)) continue;
    if (isSpelled(language)) continue;
    const better = BETTER_VOICES[name];
    voices.set(language, { language, name: better !== undefined && names.has(better) ? better : name });
  }
  return [...voices.values()];
}

/** Returns all names for a language's voice, the preferred one first. */
export function voiceNames(voice: Voice): string[] {
  return [...new Set(Object.values(VARIANTS).map((variant) => voice.name + variant))];
}

/** Returns the name to pass to espeak-ng for a language, or null if it has no voice for it. */
export function chooseVoice(voices: readonly Voice[], language: string, mode: VoiceMode): string | null {
  const match = matchLanguage(
    language,
    voices.map((voice) => voice.language),
  );
  const voice = voices.find((candidate) => candidate.language === match);
  return voice === undefined ? null : voice.name + VARIANTS[mode];
}
