import { expect, it } from 'vitest';
import { checkEngines } from '../../src/engines/config-check.ts';
import { findEntries, nameEntry } from '../../src/engines/entry.ts';

const URL = 'http://gpu/v1';
const RECOGNIZE = [
  { type: 'openai', url: URL, model: 'large-v3' },
  { type: 'openai', url: URL, model: 'tiny' },
  { type: 'sherpa', folder: '~/models/parakeet/' },
  { type: 'command', run: ['/opt/whisper/bin/whisper', '{input}'] },
  'pocketsphinx',
];
const LIST = checkEngines({ recognize: RECOGNIZE }, 'engines.json').recognize ?? [];

it('entries are named after their type and model, folder or program', () => {
  expect(LIST.map(nameEntry)).toEqual([
    'openai large-v3',
    'openai tiny',
    'sherpa parakeet',
    'command whisper',
    'pocketsphinx',
  ]);
  expect(nameEntry({ type: 'libretranslate', url: URL })).toBe('libretranslate');
});

it.each([
  ['1', [0]],
  ['5', [4]],
  ['6', []],
  ['0', []],
  ['openai', [0, 1]],
  ['tiny', [1]],
  ['openai tiny', [1]],
  ['pocketsphinx', [4]],
  ['whisper', [3]],
  ['nothing', []],
])('%s means the entries %j', (given, places) => {
  expect(findEntries(LIST, given)).toEqual(places);
});
