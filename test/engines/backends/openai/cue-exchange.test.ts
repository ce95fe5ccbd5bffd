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
