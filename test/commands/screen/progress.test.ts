import { describe, expect, it } from 'vitest';
import { createBatchProgress } from '../../../src/commands/screen/progress.ts';
import { done, doneBefore, failed, item, itemEvent, processing, START_MS } from '../batch/items.ts';

const [one, two, three, four] = [item('one.mp4'), item('two.mp4'), item('three.mp4'), item('four.mp4')];
const ITEMS = [one, two, three, four];

describe('the summary of a batch', () => {
  it('counts every item once, in the state it is in', () => {
    const picture = createBatchProgress(ITEMS);
    expect(picture.look(START_MS).counts).toMatchObject({ total: 4, waiting: 4 });
    picture.add(itemEvent(one, doneBefore));
    picture.add(itemEvent(two, { phase: 'uploading', bytes: 1, total: 2 }));
    picture.add(itemEvent(three, { phase: 'ready' }));
    picture.add(itemEvent(four, failed('loc_4')));
    const counts = { total: 4, done: 1, running: 1, waiting: 1, failed: 1, left: 0 };
    expect(picture.look(START_MS).counts).toEqual(counts);
    picture.add(itemEvent(three, { phase: 'left', jobId: null, because: 'quota' }));
    expect(picture.look(START_MS).counts).toMatchObject({ waiting: 0, left: 1 });
  });

  it('lists running items in the order of their start, whatever happens to them', () => {
    const picture = createBatchProgress(ITEMS);
    picture.add(itemEvent(three, processing('loc_3', 0), 0));
    picture.add(itemEvent(one, processing('loc_1', 0), 1000));
    picture.add(itemEvent(two, processing('loc_2', 0), 2000));
    const order = () => picture.look(START_MS + 9000).running.map(({ label }) => label);
    expect(order()).toEqual(['three.mp4 → es', 'one.mp4 → es', 'two.mp4 → es']);
    picture.add(
      itemEvent(three, { phase: 'downloading', jobId: 'loc_3', bytes: 0, total: 1, expiresAt: null }, 5000),
    );
    picture.add(itemEvent(one, done('loc_1'), 6000));
    expect(order()).toEqual(['three.mp4 → es', 'two.mp4 → es']);
  });

  it('counts the time of an item that waited for a slot from its start', () => {
    const picture = createBatchProgress([one]);
    picture.add(itemEvent(one, { phase: 'uploading', bytes: 0, total: 1 }, 0));
    picture.add(itemEvent(one, { phase: 'ready' }, 1000));
    picture.add(itemEvent(one, { phase: 'submitting' }, 60_000));
    expect(picture.look(START_MS + 61_000).running[0]?.since).toBe(START_MS);
  });

  it('estimates from the work of this run, not from earlier or failed items', () => {
    const picture = createBatchProgress(ITEMS);
    picture.add(itemEvent(one, doneBefore, 0));
    picture.add(itemEvent(two, processing('loc_2', 0), 0));
    picture.add(itemEvent(four, failed(null), 10));
    expect(picture.look(START_MS + 60_000).leftMs).toBeNull();
    picture.add(itemEvent(two, done('loc_2'), 60_000));
    expect(picture.look(START_MS + 60_000).leftMs).toBe(60_000);
  });

  it('contains credits, slots, the stop, and the earliest expiry of a result that is not downloaded', () => {
    const picture = createBatchProgress(ITEMS);
    const downloading = (expiresAt: string | null) =>
      ({ phase: 'downloading', jobId: 'loc', bytes: 0, total: null, expiresAt }) as const;
    picture.add(itemEvent(one, downloading('2026-11-22T10:00:00.000+02:00')));
    picture.add(itemEvent(two, downloading('2026-11-22T09:00:00.000Z')));
    picture.add(itemEvent(three, downloading(null)));
    const sums = { type: 'credits', reserved: 3, charged: 4, unknown: 1, units: [] } as const;
    picture.add(sums);
    picture.add({ type: 'window', size: 7, inFlight: 3 });
    picture.add({ type: 'stop', reason: 'quota', message: 'the quota is used up' });
    expect(picture.look(START_MS)).toMatchObject({
      deadline: '2026-11-22T10:00:00.000+02:00',
      cost: '4 credits, 3 credits reserved and 1 job without a price',
      slots: 7,
      stop: 'the quota is used up',
    });
    picture.add(itemEvent(one, done('loc')));
    picture.add({ ...sums, isFree: true });
    expect(picture.look(START_MS)).toMatchObject({ deadline: '2026-11-22T09:00:00.000Z', cost: null });
  });

  it('measures the rate of an upload from its own start', () => {
    const picture = createBatchProgress([one]);
    picture.add(itemEvent(one, { phase: 'uploading', bytes: 0, total: 10_000_000 }, 0));
    picture.add(itemEvent(one, { phase: 'uploading', bytes: 2_000_000, total: 10_000_000 }, 2000));
    expect(picture.look(START_MS + 2000).running[0]?.step).toEqual({
      phase: 'uploading',
      fraction: 0.2,
      detail: '2.0 MB of 10.0 MB, 1.0 MB/s, 8.0 s left',
    });
  });

  it('includes later items, from a folder that is watched', () => {
    const picture = createBatchProgress([]);
    picture.add(itemEvent(one, { phase: 'waiting' }));
    expect(picture.look(START_MS).counts).toMatchObject({ total: 1, waiting: 1 });
  });
});
