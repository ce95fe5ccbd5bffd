/** Names of the entries of `engines.json`. Without the schema, because the completion of names must be quick. */
import { basename } from 'node:path';
import type { BackendStep } from '../media/work.ts';
import type { EntryOf } from './config.ts';

type Entry = EntryOf<BackendStep> | string;

/** Shown to users: `openai large-v3`, `sherpa piper-es`, `llama hy-mt2`, `command demucs`, `libretranslate`, `apertium`. */
export function nameEntry(entry: Entry): string {
  if (typeof entry === 'string') return entry;
  switch (entry.type) {
    case 'openai':
      return `openai ${entry.model}`;
    case 'sherpa':
      return `sherpa ${basename(entry.folder)}`;
    case 'llama':
      return `llama ${basename(entry.model, '.gguf')}`;
    case 'command':
      return `command ${basename(entry.run[0] ?? '')}`;
    case 'libretranslate':
      return entry.type;
  }
}

/**
 * The positions of the entries that a user means: by position (from 1), by name, or by a word of the name, such as the
 * type or the model.
 */
export function findEntries(list: readonly Entry[], given: string): number[] {
  if (/^\d+$/.test(given)) return list[Number(given) - 1] === undefined ? [] : [Number(given) - 1];
  const names = list.map(nameEntry);
  const matching = (isMatch: (name: string) => boolean) =>
    names.flatMap((name, at) => (isMatch(name) ? [at] : []));
  const whole = matching((name) => name === given);
  return whole.length > 0 ? whole : matching((name) => name.split(' ').includes(given));
}
