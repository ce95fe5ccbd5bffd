import { describe, expect, it } from 'vitest';
import { chooseEntries, EVERYTHING, type ListedEntry } from '../../../src/batch/page/choose.ts';

const entry = (name: string, rest: Partial<ListedEntry> = {}): ListedEntry => ({
  id: name,
  name,
  language: 'es',
  variant: null,
  state: 'done',
  jobs: [],
  duration_ms: null,
  misfits: null,
  cuts: null,
  losses: [],
  ...rest,
});

const failed = entry('lesson 3', {
  state: 'failed',
  jobs: [
    {
      kind: 'dubbing',
      state: 'failed',
      job_id: 'dub_01',
      request_ids: ['req_77'],
      client_reference: null,
      options: {},
      credits: null,
      created_at: null,
      finished_at: null,
      failure: { code: 'ENGINE_ERROR', message: 'no voice', advice: null, retryable: true },
      waits_for: null,
      engines: [],
    },
  ],
});
const ENTRIES = [
  entry('lesson 10', { misfits: 2 }),
  entry('lesson 2', { language: 'fr', misfits: 7 }),
  failed,
  entry('lesson 1', { state: 'unfinished', misfits: 0 }),
];
const names = (choice: Partial<typeof EVERYTHING>, subtitles: Record<string, string> = {}) =>
  chooseEntries(ENTRIES, { ...EVERYTHING, ...choice }, ({ id }) => subtitles[id] ?? '').map(
    ({ name }) => name,
  );

describe('the order', () => {
  it('puts failures first, then unfinished entries, and keeps the order of the batch otherwise', () => {
    expect(names({})).toEqual(['lesson 3', 'lesson 1', 'lesson 10', 'lesson 2']);
  });

  it('by name counts numbers as numbers', () => {
    expect(names({ order: 'name' })).toEqual(['lesson 1', 'lesson 2', 'lesson 3', 'lesson 10']);
  });

  it('by fit puts the worst first and what is unknown last', () => {
    expect(names({ order: 'misfits' })).toEqual(['lesson 2', 'lesson 10', 'lesson 1', 'lesson 3']);
  });
});

describe('the filters', () => {
  it('show the entries of a state, or those with lines of poor fit', () => {
    expect(names({ state: 'failed' })).toEqual(['lesson 3']);
    expect(names({ state: 'misfits' })).toEqual(['lesson 10', 'lesson 2']);
  });

  it('can be combined', () => {
    expect(names({ state: 'done', language: 'fr' })).toEqual(['lesson 2']);
    expect(names({ state: 'failed', language: 'fr' })).toEqual([]);
  });
});

describe('the search', () => {
  it.each(['LESSON 3', 'req_77', 'engine_error', 'no voice', 'dub_01'])(
    'finds %s wherever it occurs',
    (query) => {
      expect(names({ query })).toEqual(['lesson 3']);
    },
  );

  it('finds the options that distinguish a result from others', () => {
    const muted = entry('lesson 4', { variant: 'original_audio mute' });
    const found = chooseEntries([...ENTRIES, muted], { ...EVERYTHING, query: 'mute' }, () => '');
    expect(found).toEqual([muted]);
  });

  it('finds the text of the subtitles, and requires every word', () => {
    const said = { 'lesson 2': 'bonjour madame' };
    expect(names({ query: 'Bonjour' }, said)).toEqual(['lesson 2']);
    expect(names({ query: 'lesson madame' }, said)).toEqual(['lesson 2']);
    expect(names({ query: 'bonjour monsieur' }, said)).toEqual([]);
  });

  it('loads subtitles only if nothing else contains the word', () => {
    const asked: string[] = [];
    const ask = ({ name }: ListedEntry) => {
      asked.push(name);
      return '';
    };
    chooseEntries(ENTRIES, { ...EVERYTHING, query: '3' }, ask);
    expect(asked).not.toContain('lesson 3');
    expect(asked).toContain('lesson 2');
  });
});
