import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Failure, type FailureCategory } from '../../../src/base/failure.ts';
import type { ItemState } from '../../../src/batch/item.ts';
import { createFilesAtWork } from '../../../src/batch/run/watch-folders.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { videoItem } from './support/items.ts';

const failed = (category: FailureCategory): ItemState => {
  const failure = new Failure({ category, code: 'ANY', message: 'it failed' });
  return { phase: 'failed', jobId: null, failure };
};
const DONE: ItemState = { phase: 'done', jobId: 'loc_1', files: [], credits: 1, before: null };

function openWork() {
  let now = 0;
  const path = join(makeFolder(), 'talk.mp4');
  writeFileSync(path, '');
  const items = ['es', 'fr'].map((language) => videoItem(path, language));
  const work = createFilesAtWork(() => now);
  const tell = (position: number, state: ItemState) => {
    const item = items[position];
    if (item === undefined) throw new Error('there is no such item');
    work.listen({ type: 'item', item, state, atMs: now });
  };
  const begin = () => work.begin([path], items);
  const advance = (ms: number) => {
    now += ms;
  };
  return { begin, tell, advance, state: () => work.workOn(path) };
}

describe('a watched file', () => {
  it('is busy until all its items have ended', () => {
    const { begin, tell, state } = openWork();
    expect(state()).toBe('none');
    begin();
    tell(0, { phase: 'validating' });
    tell(0, DONE);
    expect(state()).toBe('busy');
    tell(1, failed('job'));
    expect(state()).toBe('none');
  });

  it('is processed again after five minutes if it failed temporarily', () => {
    const { begin, tell, advance, state } = openWork();
    begin();
    tell(0, failed('temporary'));
    tell(1, DONE);
    advance(5 * 60_000 - 1);
    expect(state()).toBe('none');
    advance(1);
    expect(state()).toBe('again');
    begin();
    tell(0, DONE);
    tell(1, DONE);
    expect(state()).toBe('none');
  });
});
