/** The voices that an entry of `engines.json` names for each language. */

import { matchLanguage } from '../../protocol/languages.ts';
import type { VoiceMode } from '../backend.ts';

/** The fastest speed of a dub: above, a voice is hard to understand. */
export const MOST_SPEED = 1.6;

/** A voice for a language: one name, or one for each kind of voice. */
type VoiceNames = string | { readonly [M in VoiceMode]?: string | undefined };

interface VoiceEntry {
  readonly languages?: readonly string[] | undefined;
  readonly voices?: Readonly<Record<string, VoiceNames>> | undefined;
}

/** The languages that an entry names: its `languages`, else those with voices. */
export function spokenLanguages({ languages, voices }: VoiceEntry): readonly string[] {
  return languages ?? Object.keys(voices ?? {});
}

/** Returns the name of the voice for a language, or null if the entry names none. */
export function chooseVoice({ voices = {} }: VoiceEntry, language: string, mode: VoiceMode): string | null {
  const key = matchLanguage(language, Object.keys(voices));
  const names = key === null ? undefined : voices[key];
  if (names === undefined || typeof names === 'string') return names ?? null;
  return names[mode] ?? names.auto ?? names.female ?? names.male ?? null;
}

/** The names of all voices for a language. */
export function voiceNames(entry: VoiceEntry, language: string): string[] {
  const modes = ['auto', 'female', 'male'] as const;
  const names = modes.map((mode) => chooseVoice(entry, language, mode));
  return [...new Set(names.filter((name) => name !== null))];
}
