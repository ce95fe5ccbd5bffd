/** Which of several remembered translations of a sentence is used. */
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type MemoryEntry, openMemory } from '../../../src/batch/records/translation-memory.ts';
import { makeFolder } from '../../support/make-folder.ts';

const OF_PERSON = { origin: 'person', before: '*', after: '*', terms: '', at: '2026-11-01T00:00:00.000Z' };

const entry = (from: string, to: string, target: string, more: Partial<MemoryEntry> = {}): MemoryEntry => ({
  ...{ ...OF_PERSON, from, to, source: ['Good night.'], target: [target] },
  ...more,
});

/** What a memory with these entries says for a request of two languages. */
async function recallFrom(...entries: readonly MemoryEntry[]) {
  const store = await openMemory(join(makeFolder(), 'memory.db'), { now: Date.now });
  onTestFinished(() => store.close());
  for (const each of entries) await store.add([each]);
  return (from: string, to: string) =>
    store.recall({ from, to, origin: 'service' }, [
      { source: ['Good night.'], cues: [0], before: '', after: '', terms: '' },
    ])[0]?.[0] ?? null;
}

it('lines of a region serve the language without one, but no other region, and no language that has lines of its own', async () => {
  const region = entry('en-US', 'es-ES', 'ESPAÑA');
  const alone = await recallFrom(region);
  expect(alone('en', 'es')).toBe('ESPAÑA');
  expect(alone('en-US', 'es-MX')).toBeNull();
  const both = await recallFrom(region, entry('en', 'es', 'ESPAÑOL'));
  expect(both('en', 'es')).toBe('ESPAÑOL');
  expect(both('en-GB', 'es-MX')).toBe('ESPAÑOL');
});

it('the newest of several translations is used, in whichever order they come', async () => {
  const made = (year: number, target: string) =>
    entry('en', 'es', target, { at: `${year}-01-01T00:00:00.000Z` });
  const recall = await recallFrom(made(2010, 'UNO'), made(2020, 'UNO'), made(2015, 'DOS'));
  expect(recall('en', 'es')).toBe('UNO');
});
