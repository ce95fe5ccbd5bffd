/** Lists the voices of espeak-ng and chooses one. */
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import type { VoiceMode } from '../backend.ts';
import { matchLanguage } from '../languages.ts';
import type { Programs } from '../programs.ts';

export interface Voice {
  /** BCP 47 tag. */
  readonly language: string;
  /** Its name in espeak-ng. */
  readonly name: string;
}

/**
 * The voices are synthetic: a variant shifts the pitch and the formants of any language. `f3` and `m3` stay clear at
 * high rates. Without a variant, the voice is as its authors tuned it.
 */
const VARIANTS: Record<VoiceMode, string> = { auto: '', female: '+f3', male: '+m3' };

/** Asks espeak-ng for its voices. @throws ProgramMissing */
export async function listVoices(
  programs: Programs,
  run: { signal: AbortSignal; folder: string },
): Promise<Voice[]> {
  const stdout = await programs.run('espeak-ng', ['--voices'], run);
  return parseVoices(stdout.toString('utf8'));
}

/**
 * Parses its table: priority, language, age and gender, name, file. The first voice of a language is the preferred one.
 * MBROLA voices are skipped, because they need data that the package does not include.
 */
export function parseVoices(table: string): Voice[] {
  const voices = new Map<string, Voice>();
  for (const row of table.split('\n').slice(1)) {
    const [, name = '', , , file = ''] = row.trim().split(/\s+/);
    const language = canonicalLanguage(name);
    if (language === null || file.startsWith('mb/') || voices.has(language)) continue;
    voices.set(language, { language, name });
  }
  return [...voices.values()];
}

/** Returns all names for a language's voice, the preferred one first. */
export function voiceNames(voice: Voice): string[] {
  return Object.values(VARIANTS).map((variant) => voice.name + variant);
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
