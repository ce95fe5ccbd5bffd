import { describe, expect, it } from 'vitest';
import { Failure, type FailureCategory } from '../../../src/base/failure.ts';
import type { ItemState } from '../../../src/batch/item.ts';
import { createFilesAtWork } from '../../../src/batch/run/watch-folders.ts';
import { startStage } from './support/stage.ts';

const failed = (category: FailureCategory): ItemState => {
  const failure = new Failure({ category, code: 'ANY', message: 'it failed' });
  return { phase: 'failed', jobId: null, failure };
};
const DONE: ItemState = { phase: 'done', jobId: 'loc_1', files: [], credits: 1, before: null };

async function openWork() {
  let now = 0;
  const stage = await startStage();
  const items = await stage.video('talk.mp4', 30, ['es', 'fr']);
  const path = `${stage.folder}/talk.mp4`;
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
  it('is busy until all its items have ended', async () => {
    const { begin, tell, state } = await openWork();
    expect(state()).toBe('none');
    begin();
    tell(0, { phase: 'validating' });
    tell(0, DONE);
    expect(state()).toBe('busy');
    tell(1, failed('job'));
    expect(state()).toBe('none');
  });

  it('is processed again after five minutes if it failed temporarily', async () => {
    const { begin, tell, advance, state } = await openWork();
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
