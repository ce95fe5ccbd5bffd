import { describe, expect, it } from 'vitest';
import type { BatchEvent, BatchItem, ItemState } from '../../../src/batch/item.ts';
import { combineStates, createTeller } from '../../../src/batch/run/create-run.ts';
import { linesItem } from './support/items.ts';

const processing = (fraction: number, stage: string | null = null): ItemState => ({
  phase: 'processing',
  jobId: 'a',
  stage,
  fraction,
});
const done: ItemState = { phase: 'done', jobId: 'b', files: [], credits: 1, before: null };

describe('the state of an item in parts', () => {
  it.each<[string, ItemState[], unknown]>([
    ['nothing is reported while all wait', [{ phase: 'waiting' }], null],
    [
      'uploads add up',
      [
        { phase: 'uploading', bytes: 1, total: 10 },
        { phase: 'uploading', bytes: 2, total: 20 },
      ],
      { phase: 'uploading', bytes: 3, total: 30 },
    ],
    [
      'finished parts count, and running ones are shown',
      [done, processing(0.5, 'dubbing')],
      { phase: 'processing', jobId: 'a', stage: 'dubbing, 1 of 4 parts done', fraction: 0.375 },
    ],
    [
      'queued parts are a queued item',
      [{ phase: 'queued', jobId: 'q' }, { phase: 'ready' }],
      { phase: 'queued', jobId: 'q' },
    ],
    ['the ends of parts are not the end of the item', [done], null],
  ])('%s', (_name, states, expected) => {
    expect(combineStates(states, 4)).toEqual(expected);
  });
});

describe('observers', () => {
  it('receive the state of the item, and never of its parts', () => {
    const events: BatchEvent[] = [];
    const tell = createTeller(
      (event) => events.push(event),
      () => 7,
    );
    const item = linesItem(1);
    const part = (number: number): BatchItem => ({
      ...item,
      key: `part ${number}`,
      part: { sha256: '', of: item, number, count: 2 },
    });
    tell(part(1), processing(0.5));
    tell(part(2), done);
    tell(part(1), processing(0.7));
    tell(item, done);
    expect(events.filter(({ type }) => type === 'part')).toEqual([
      { type: 'part', item, part: 1, of: 2, jobId: 'a' },
      { type: 'part', item, part: 2, of: 2, jobId: 'b' },
    ]);
    const states = events.flatMap((event) => (event.type === 'item' ? [event] : []));
    expect(states.every((event) => event.item === item && event.atMs === 7)).toBe(true);
    expect(states.map(({ state }) => state.phase)).toEqual([
      'processing',
      'processing',
      'processing',
      'done',
    ]);
    // A new beginning does not remember the parts of the one before.
    tell(part(1), processing(0.5));
    expect(events.at(-1)).toMatchObject({ state: { fraction: 0.25 } });
  });
});
