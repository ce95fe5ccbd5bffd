import { describe, expect, it } from 'vitest';
import { addEntries, listManaged, removeEntries } from '../../../src/commands/models/managed-entries.ts';
import type { EnginesConfig } from '../../../src/engines/config.ts';

type Recognizers = NonNullable<EnginesConfig['recognize']>;

const own = (folder: string) => ({ type: 'sherpa', folder }) as const;
const managed = (id: string) => ({ ...own(`/models/${id}`), managed: id });
const added = (...ids: string[]) => ids.map((id) => ({ step: 'recognize', entry: managed(id) }) as const);

describe('entries of models', () => {
  it.each<[string, Recognizers, Recognizers]>([
    ['before the built-in engine at the end', ['pocketsphinx'], [managed('a'), 'pocketsphinx']],
    ["after the user's own", [own('/1'), 'pocketsphinx'], [own('/1'), managed('a'), 'pocketsphinx']],
    ['at the end without the built-in engine', [own('/1')], [own('/1'), managed('a')]],
    [
      'after a built-in engine that the user prefers',
      ['pocketsphinx', own('/1')],
      ['pocketsphinx', own('/1'), managed('a')],
    ],
    ['before those of earlier models', [own('/1'), managed('b')], [own('/1'), managed('a'), managed('b')]],
    ['in place of their own', [managed('a'), 'pocketsphinx'], [managed('a'), 'pocketsphinx']],
  ])('come %s', (_, before, after) => {
    expect(addEntries({ recognize: before }, added('a')).recognize).toEqual(after);
  });

  it('are removed without the others, and a step without any is omitted', () => {
    const both = addEntries({ $schema: 'mine', translate: ['apertium'] }, added('a', 'b'));
    expect([...listManaged(both)]).toEqual(['a', 'b']);
    const one = removeEntries(both, 'a');
    expect(one.recognize).toEqual([managed('b'), 'pocketsphinx']);
    expect(removeEntries(one, 'b')).toEqual({ $schema: 'mine', translate: ['apertium'] });
    expect(removeEntries({ recognize: [own('/1')] }, 'a')).toEqual({ recognize: [own('/1')] });
  });
});
