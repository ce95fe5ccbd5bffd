import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readCueAnswer,
  systemPrompt,
  userMessage,
} from '../../../../src/engines/backends/openai/cue-exchange.ts';

const cue = (id: number, text: string, durationMs = 1_000) => ({ id, text, durationMs });
const none = { before: [], after: [] };
const lengths = (to: string, ...durations: number[]) =>
  JSON.parse(userMessage({ ...none, cues: durations.map((ms, at) => cue(at + 1, 'x', ms)) }, to)).cues.map(
    ({ max_chars: most }: { max_chars: number }) => most,
  );

describe('the length of a translation', () => {
  it('follows from the time of its cue and the script', () => {
    expect(lengths('es', 2_000, 10_000)).toEqual([34, 170]);
    expect(lengths('zh-Hant', 2_000)).toEqual([18]);
    expect(lengths('ja', 5_000)).toEqual([30]);
    expect(lengths('ko', 2_000)).toEqual([24]);
  });

  it('allows at least one word, however short the cue is', () => {
    expect(lengths('es', 0, -5, 100)).toEqual([12, 12, 12]);
  });
});

describe('a message to a model', () => {
  it('is JSON from which each text is read back unchanged, whatever it is', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }), (texts) => {
        const message = userMessage({ ...none, cues: texts.map((text, at) => cue(at + 1, text)) }, 'es');
        const back = JSON.parse(message).cues.map(({ text }: { text: string }) => text);
        expect(back).toEqual(texts.map((text) => text.toWellFormed()));
      }),
    );
  });

  it('has instructions that depend on the languages and the notes only', () => {
    const pair = { from: 'en', to: 'pt-BR' };
    expect(systemPrompt(pair, undefined)).toContain('from English (en) to Brazilian Portuguese (pt-BR)');
    expect(systemPrompt(pair, 'Informal.')).toBe(
      `${systemPrompt(pair, undefined)}\n\nNotes of the user about this translation:\nInformal.`,
    );
  });
});

/** The answer for one cue. */
const HOLA = '{"cues":[{"id":1,"text":"Hola"}]}';

describe('an answer of a model', () => {
  const cues = [cue(1, 'One'), cue(2, '<i>Two</i>'), cue(3, 'Three\nrows')];

  it('yields a translation or a fault for each cue, whatever it is', () => {
    const item = fc.record(
      {
        id: fc.oneof(fc.integer({ min: 0, max: 4 }), fc.string()),
        text: fc.oneof(fc.string(), fc.integer()),
      },
      { requiredKeys: [] },
    );
    const json = fc.oneof(
      fc.json(),
      fc.array(item).map((list) => JSON.stringify({ cues: list })),
    );
    const framed = fc
      .tuple(fc.constantFrom('', '<think>', '</think>', '```json\n', '{', '['), json, fc.string())
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.oneof(fc.string(), json, framed), (content) => {
        const { texts, faults } = readCueAnswer(content, cues);
        expect([...texts.keys(), ...faults.keys()].sort()).toEqual([1, 2, 3]);
        for (const text of texts.values()) expect(text.trim()).not.toBe('');
      }),
    );
  });

  it('is used whole if it is right', () => {
    const texts = ['Uno', '<i>Dos</i>', 'Tres\nfilas'];
    const content = JSON.stringify({ cues: texts.map((text, at) => ({ id: at + 1, text })) });
    expect(readCueAnswer(content, cues)).toEqual({
      texts: new Map(texts.map((text, at) => [at + 1, text])),
      faults: new Map(),
    });
  });

  it.each<readonly [string, string]>([
    ['after reasoning', `<think>\nThe user wants {"cues":[]}…\n</think>\n\n${HOLA}`],
    ['after the end of reasoning only', `so {"id":1} it is.\n</think>${HOLA}`],
    ['in a code fence', `Here you are:\n\`\`\`json\n${HOLA}\n\`\`\`\nAnything else?`],
    ['between sentences', `Sure! ${HOLA} Done.`],
    ['as a bare list', '[{"id":1,"text":"Hola"}]'],
    ['as a single cue', '{"id":1,"text":"Hola"}'],
    ['under another name, with numbers as text', '{"translations":[{"id":"1","text":"Hola"}]}'],
  ])('may be JSON %s', (_, content) => {
    expect(readCueAnswer(content, cues.slice(0, 1)).texts.get(1)).toBe('Hola');
  });

  it('may quote the tags of reasoning in a cue', () => {
    const text = 'El modelo escribe </think> al final';
    const content = JSON.stringify({ cues: [{ id: 1, text }] });
    expect(readCueAnswer(content, [cue(1, 'It writes </think>')]).texts.get(1)).toBe(text);
  });

  const item = (id: unknown, text: unknown) => ({ id, text });
  it.each<readonly [string, readonly object[], readonly number[]]>([
    ['too few cues', [item(1, 'uno')], [2, 3]],
    ['a number twice', [item(1, 'uno'), item(2, 'a'), item(2, 'b'), item(3, 'tres')], [2]],
    ['an empty translation', [item(1, 'uno'), item(2, ' \n'), item(3, 'tres')], [2]],
    ['a translation without end', [item(1, 'no '.repeat(99)), item(2, 'dos'), item(3, 'tres')], [1]],
    ['a number too many', [1, 2, 3, 4].map((id) => item(id, 'x')), [1, 2, 3]],
    ['other types', [item(1, 'uno'), item(2, 7), item('x', 'tres')], [2, 3]],
  ])('is used as far as it can be: %s', (_, items, faulty) => {
    const asked = [1, 2, 3].map((id) => cue(id, `Line ${id}`));
    expect([...readCueAnswer(JSON.stringify({ cues: items }), asked).faults.keys()]).toEqual(faulty);
  });

  it('gets the rows of its source', () => {
    const rows = (text: string, source: string) =>
      readCueAnswer(JSON.stringify([item(1, text)]), [cue(1, source)]).texts.get(1);
    expect(rows('Uno dos\ntres cuatro', 'One row')).toBe('Uno dos tres cuatro');
    expect(rows('Uno dos tres cuatro', 'Two\nrows')).toBe('Uno dos\ntres cuatro');
    expect(rows('Uno dos tres cuatro cinco', 'Two\nrows')).toBe('Uno dos tres\ncuatro cinco');
  });

  it('may repeat the same text', () => {
    const item = { id: 1, text: 'Uno' };
    const { texts } = readCueAnswer(JSON.stringify([item, item]), cues.slice(0, 1));
    expect(texts.get(1)).toBe('Uno');
  });

  it.each([
    [' '.repeat(4_000_000), 'spaces'],
    ['`'.repeat(4_000_000), 'fences'],
    ['```json '.repeat(500_000), 'open fences'],
    ['</think>'.repeat(500_000), 'ends of reasoning'],
    [JSON.stringify([{ id: 1, text: '< '.repeat(2_000_000) }]), 'broken tags'],
    [JSON.stringify([{ id: 1, text: '\n'.repeat(4_000_000) }]), 'rows'],
  ])('of millions of characters is read without delay', (content) => {
    const { faults } = readCueAnswer(content, cues.slice(0, 1));
    expect(faults.size).toBe(1);
  });
});
