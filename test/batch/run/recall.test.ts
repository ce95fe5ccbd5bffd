/** What is sent of a translation and what comes from memory, for any cues and any memory. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createItem } from '../../../src/batch/inputs/items.ts';
import type { BatchItem } from '../../../src/batch/item.ts';
import { mergeTexts } from '../../../src/batch/recipes/translation.ts';
import {
  memoryRequestOf,
  openMemory,
  PERSON,
  sentencesOf,
} from '../../../src/batch/records/translation-memory.ts';
import { createOtherLines, findRecall } from '../../../src/batch/run/recall.ts';
import { formatSrt } from '../../../src/protocol/srt.ts';
import type { SubtitleLine } from '../../../src/protocol/subtitle-line.ts';
import { makeFolder } from '../../support/make-folder.ts';

const cue = fc.record({
  text: fc.constantFrom(
    'He was',
    'He was',
    'young.',
    'and, so,',
    '- No',
    '♪ la',
    'I go',
    'Yes.',
    'yes.\nreally',
  ),
  pause: fc.constantFrom(0, 100, 700, 5000),
});

const linesOf = (cues: readonly { readonly text: string; readonly pause: number }[]): SubtitleLine[] => {
  let start = 0;
  return cues.map(({ text, pause }, at) => {
    start += pause;
    const line = { index: at + 1, start_ms: start, end_ms: start + 1000, text };
    start += 1000;
    return line;
  });
};

function itemOf(lines: readonly SubtitleLine[]): BatchItem {
  const named = { label: 'talk.srt', stem: 'talk', name: 'talk.srt', sha256: 'a'.repeat(64) };
  const input = { type: 'lines' as const, ...named, lines, file: null, parts: null };
  const fields = { source_language: 'en', target_language: 'es' };
  return createItem('subtitle_translation', input, { targetLanguage: 'es', fields });
}

it('whole sentences are sent, no more than are new, and each cue of the result is remembered or answered', async () => {
  const folder = makeFolder();
  let files = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(cue, { minLength: 1, maxLength: 25 }),
      fc.array(cue, { maxLength: 25 }),
      async (now, before) => {
        files += 1;
        const store = await openMemory(join(folder, `${files}.db`), { now: Date.now });
        const lines = linesOf(now);
        const item = itemOf(lines);
        const request = memoryRequestOf(item, 'service');
        const known = await sentencesOf(linesOf(before), 'es', undefined, false);
        await store.remember(
          request,
          known,
          before.map(({ text }) => `memory of ${text}`),
        );
        await store.close();
        const reopened = await openMemory(join(folder, `${files}.db`), { now: Date.now });
        const recall = await findRecall(
          {
            memory: { store: reopened, origin: 'service', used: { lines: 0, known: 0 } },
            ...{ fresh: false, template: '', recorded: new Map() },
          },
          item,
          { step: 'new', after: null },
        );
        await reopened.close();
        const texts = recall?.texts ?? lines.map(() => null);
        const remembered = new Set(known.map(({ source }) => JSON.stringify(source)));
        for (const { cues, source } of await sentencesOf(lines, 'es', undefined, false)) {
          const isKnown = remembered.has(JSON.stringify(source));
          expect(cues.map((at) => texts[at])).toEqual(
            source.map((text) => (isKnown ? `memory of ${text}` : null)),
          );
        }
        const answers = lines.flatMap(({ index }, at) => (texts[at] === null ? [`answer ${index}`] : []));
        expect(mergeTexts(texts, answers)).toEqual(
          lines.map(({ index }, at) => texts[at] ?? `answer ${index}`),
        );
      },
    ),
    { numRuns: 25 },
  );
});

it('other lines for a finished translation are those of a person in other words, never those of a machine or another service', async () => {
  const folder = makeFolder();
  const store = await openMemory(join(folder, 'memory.db'), { any: true, now: Date.now });
  const where = { from: 'en', to: 'es', before: '*', after: '*', terms: '', at: '2026-11-01T00:00:00.000Z' };
  await store.add([
    { ...where, origin: PERSON, source: ['Hello.'], target: ['<b>Hola.</b>'] },
    { ...where, origin: PERSON, source: ['Bye.'], target: ['Chao.'] },
    { ...where, origin: 'another service', source: ['Gone.'], target: ['Ido.'] },
  ]);
  const cues = (...texts: string[]) => linesOf(texts.map((text) => ({ text, pause: 700 })));
  const path = join(folder, 'talk.es.srt');
  await writeFile(path, formatSrt(cues('Hola.', 'Adiós.', 'Fin.')));
  const other = createOtherLines(store, { template: '', existing: 'replace' });
  expect(await other?.count(itemOf(cues('Hello.', 'Bye.', 'Gone.')), path)).toBe(1);
  await store.close();
});
