import { describe, expect, it } from 'vitest';
import { type Model, readCatalog } from '../../../src/engines/models/catalog.ts';
import { chooseModels, type Wanted } from '../../../src/engines/models/choose.ts';

const catalog = await readCatalog();

function choose(wanted: Partial<Wanted>, models: readonly Model[] = catalog) {
  const { chosen, unmet } = chooseModels(models, {
    from: 'en',
    to: [],
    steps: ['recognize', 'translate', 'speak'],
    size: 'small',
    memoryMib: 8000,
    ...wanted,
  });
  return { chosen: chosen.map(({ id }) => id), unmet: unmet.map(({ reason }) => reason) };
}

/** A translator that every version can run. */
const translator = (id: string, size: 'small' | 'large', memoryMib: number): Model => ({
  ...(catalog.find((model) => model.id === 'hy-mt2-7b') as Model), // it is in the catalogue
  ...{ id, size, memoryMib, entry: { type: 'libretranslate', url: '{folder}' } },
});

describe('the choice of models', () => {
  it('has the first that recognizes the spoken language, and nothing else without targets', () => {
    expect(choose({})).toEqual({ chosen: ['parakeet-v3'], unmet: [] });
    expect(choose({ from: 'pt-BR' })).toEqual({ chosen: ['parakeet-v3'], unmet: [] });
    expect(choose({ from: 'hi' }).chosen).toEqual(['qwen3-asr']);
    expect(choose({ from: 'sw' }).chosen).toEqual(['whisper-small']);
  });

  it('has a voice for each target, and one voice for several where it can', () => {
    expect(choose({ to: ['es', 'fr'] }).chosen).toEqual(['parakeet-v3', 'hy-mt2-1.8b', 'kokoro']);
    const { chosen } = choose({ to: ['es', 'de', 'pl'] });
    expect(chosen).toEqual(['parakeet-v3', 'hy-mt2-1.8b', 'kokoro', 'supertonic-3']);
  });

  it('has large models only where they are wanted and fit the memory', () => {
    const models = [translator('big', 'large', 5800), translator('little', 'small', 1400), ...catalog];
    const of = (wanted: Partial<Wanted>) =>
      choose({ to: ['es'], ...wanted }, models).chosen.filter((id) => id === 'big' || id === 'little');
    expect(of({ size: 'large', memoryMib: 16_000 })).toEqual(['big']);
    expect(of({ size: 'large', memoryMib: 7000 })).toEqual(['little']);
    expect(of({ size: 'small', memoryMib: 16_000 })).toEqual(['little']);
    expect(choose({ from: 'ja', size: 'large', memoryMib: 16_000 }).chosen).toEqual(['cohere-transcribe']);
    // Parakeet times its words.
    expect(choose({ from: 'fr', size: 'large', memoryMib: 16_000 }).chosen).toEqual(['parakeet-v3']);
  });

  it('says why nothing does a step', () => {
    expect(choose({ to: ['sv'] }).unmet).toEqual(['no model translates English to Swedish']);
    expect(choose({ memoryMib: 300 }).unmet).toEqual([
      expect.stringMatching(
        /^no model that recognizes English fits the memory of this machine \(300 MiB\): parakeet-v3 needs 1100 MiB/,
      ),
    ]);
    const models = catalog.filter(({ id }) => id === 'whisper-turbo');
    expect(choose({}, models).unmet).toEqual([
      'no small model recognizes English; with --size large: whisper-turbo',
    ]);
  });

  it('translates nothing into the spoken language', () => {
    expect(choose({ from: 'es', to: ['es-MX'] })).toEqual({ chosen: ['parakeet-v3', 'kokoro'], unmet: [] });
  });
});
