import { expect, test } from 'vitest';
import { nameParts } from '../../src/batch/stored-parts.ts';

const file = (path: string) => ({ path, sha256: 'a'.repeat(64), size: 1 });

test('files without a name are the parts of the kind in their order', () => {
  const files = ['a.wav', 'b.wav', 'c.wav'].map(file);
  expect(nameParts('audio_separation', files).map(({ asset }) => asset)).toEqual([
    'vocal_audio',
    'background_audio',
    null,
  ]);
});

test('a name that is written down wins, whatever the order', () => {
  const files = [{ ...file('b.wav'), asset: 'background_audio' }, file('a.wav')];
  expect(nameParts('audio_separation', files).map(({ asset }) => asset)).toEqual([
    'background_audio',
    'background_audio',
  ]);
});
