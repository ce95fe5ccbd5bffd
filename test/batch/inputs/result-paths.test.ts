import { sep } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { resultPaths } from '../../../src/batch/inputs/delivery.ts';
import { createItem } from '../../../src/batch/inputs/items.ts';

const HOSTILE = fc.string({
  unit: fc.constantFrom('.', '/', '\\', 'a', '\0', '\n', '~', ':', ' ', '\u202e'),
});

function place(
  name: string,
  kind: 'auto_localization' | 'audio_separation' = 'auto_localization',
  template = '',
) {
  const file = { path: '/x', bytes: 1, mtimeMs: 0, contentType: 'video/mp4' };
  const about = { ...file, seconds: null, preparation: null };
  const input = { type: 'file', label: name, stem: 'talk', name, ...about } as const;
  const item = createItem(kind, input, {
    targetLanguage: kind === 'auto_localization' ? 'es' : null,
    fields: {},
  });
  return resultPaths(item, { folder: '/out', template, existing: 'refuse' });
}

it('the tree of the inputs stays inside the result folder, whatever the folders are called', () => {
  fc.assert(
    fc.property(HOSTILE, (name) => {
      const [path = ''] = place(name) ?? [];
      expect(path.startsWith(`${sep}out${sep}`)).toBe(true);
      expect(path.split(sep)).not.toContain('..');
      expect(path).not.toMatch(/[\0\n\u202e]/);
      expect(path.endsWith(`${sep}talk.es.mp4`)).toBe(true);
    }),
  );
});

it('every file of a result has a path', () => {
  expect(place('week1/talk.mp4', 'audio_separation')).toEqual([
    '/out/week1/talk.vocals.wav',
    '/out/week1/talk.background.wav',
  ]);
});

it('a name with something that only the job detects has no path yet', () => {
  expect(place('talk.mp4', 'auto_localization', '{id}{ext}')).toBeNull();
});

it('a template with a language is refused before anything is paid if the result has none', () => {
  expect(() => place('talk.mp4', 'audio_separation', '{stem}.{lang}.{asset}{ext}')).toThrow('{lang}');
});
