/** The voices of espeak-ng, and which one speaks. */
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import type { VoiceMode } from '../engine.ts';
import { matchLanguage } from '../languages.ts';
import type { Programs } from '../programs.ts';

interface Voice {
  /** BCP 47 tag. */
  readonly language: string;
  /** What espeak-ng calls it. */
  readonly name: string;
}

/**
 * Its voices are made, not recorded: a variant shifts the pitch and the formants of any language. `f3` and `m3` are the
 * ones that stay clear at high rates; without a variant the voice is the one its makers tuned.
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
 * Reads its table: priority, language, age and gender, name, file. The first voice of a language is the preferred one; those
 * of MBROLA need data that the package does not bring.
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

/** All names that a language's voice can be spoken by, the preferred first. */
export function voiceNames(voice: Voice): string[] {
  return Object.values(VARIANTS).map((variant) => voice.name + variant);
}

/** The name to hand to espeak-ng for a language, or null when it has no voice for it. */
export function chooseVoice(voices: readonly Voice[], language: string, mode: VoiceMode): string | null {
  const match = matchLanguage(
    language,
    voices.map((voice) => voice.language),
  );
  const voice = voices.find((candidate) => candidate.language === match);
  return voice === undefined ? null : voice.name + VARIANTS[mode];
}
