import type { Intent, Intents } from '../../journal/intents.ts';

/** The newest intent of an item, if there is one. */
export function newestIntent(item: string, intents: Intents): Intent | null {
  const key = intents.byItem.get(item)?.at(-1);
  return (key === undefined ? undefined : intents.byKey.get(key)) ?? null;
}
