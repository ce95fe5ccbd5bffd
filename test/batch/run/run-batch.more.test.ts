import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import type { BatchItem } from '../../../src/batch/item.ts';
import type { Arrival, Task, TaskSource } from '../../../src/batch/run/batch.ts';
import { scriptFaults } from '../../../src/service/index.ts';
import { until } from '../../service/harness/scene.ts';
import { videoOf } from '../../service/harness/small-engines.ts';
import { type Stage, startStage } from './support/stage.ts';

const NEW: Task['decision'] = { step: 'new', after: null };

const arrival = (items: readonly BatchItem[], ...records: Arrival['records']): Arrival => ({
  tasks: items.map((item) => ({ item, decision: NEW })),
  records,
});

/** Yields these one after the other; each waits until it is called, the last one for the end of the run. */
function sourceOf(...steps: readonly (() => Promise<Arrival> | Arrival)[]): TaskSource {
  return async function* (signal) {
    for (const step of steps) {
      if (signal.aborted) return;
      yield await step();
    }
  };
}

const untilJobs = (stage: Stage, count: number) => until(async () => (await stage.books()).jobs === count);

describe('a batch that receives more items', () => {
  it('starts them immediately, and ends when all have ended', async () => {
    const stage = await startStage();
    const [first, second, third] = stage.lines(3);
    if (first === undefined || second === undefined || third === undefined)
      throw new Error('three are needed');
    stage.engines.hold();
    const more = sourceOf(
      () => arrival([second], { type: 'usable_input', item: second.key }),
      async () => {
        await untilJobs(stage, 2);
        stage.engines.letGo();
        return arrival([third]);
      },
    );
    const { outcomes, phases, events } = await stage.run([first], { batch: { more } });
    expect(outcomes.map(({ item }) => item)).toEqual([first, second, third]);
    expect(phases).toEqual(['done', 'done', 'done']);
    const told = events.flatMap((event) => (event.type === 'item' ? [event.state.phase] : []));
    expect(told.filter((phase) => phase === 'waiting')).toHaveLength(2);
  });

  it('keeps the last outcome of a repeated item, and sends the current file', async () => {
    const stage = await startStage();
    const items = await stage.video('talk.mp4', 30);
    const more = sourceOf(
      () => arrival(items),
      async () => {
        await until(stage.statesOfAttempts, (phases) => phases[0] === 'downloaded');
        await writeFile(join(stage.folder, 'talk.mp4'), videoOf(300));
        return arrival(await stage.video('talk.mp4', 300));
      },
    );
    const replace = { folder: stage.out, template: '', existing: 'replace' } as const;
    const { phases } = await stage.run([], { batch: { more, delivery: replace } });
    expect(phases).toEqual(['done']);
    expect(await stage.books()).toMatchObject({ jobs: 2, uploads: 2 });
  });

  it('finds the jobs of a lost journal when the first items arrive', async () => {
    const stage = await startStage();
    const items = stage.lines(2);
    await stage.run(items);
    await rm(join(stage.out, '.vloc'), { recursive: true });
    await rm(join(stage.out, 'talk-0.es.srt'));
    const [first, second] = items;
    if (first === undefined || second === undefined) throw new Error('two are needed');
    const more = sourceOf(() => arrival([first]));
    const { phases, warnings } = await stage.run([], { batch: { more } });
    expect(phases).toEqual(['done']);
    expect(warnings).toEqual([expect.stringContaining('1 jobs were found again')]);
    expect(await stage.books()).toMatchObject({ jobs: 2 });
  });

  it('waits until the service can be reached again, however often it fails', async () => {
    // Each call is tried five times; a run that nothing more comes to stops after the third.
    const faults = scriptFaults([{ on: 'POST /subtitle-translations', times: 5 * 15, status: 503 }]);
    const stage = await startStage({ faults });
    const more = sourceOf(() => arrival(stage.lines(2)));
    const { phases } = await stage.run([], { batch: { more, itemCount: Number.POSITIVE_INFINITY } });
    expect(phases).toEqual(['done', 'done']);
  });

  it('finishes running items before it reports why no more can arrive', async () => {
    const stage = await startStage();
    const failure = new Failure({ category: 'disk', code: 'DISK_FULL', message: 'there is no room' });
    const more = sourceOf(
      () => arrival(stage.lines(1)),
      () => Promise.reject(failure),
    );
    await expect(stage.run([], { batch: { more } })).rejects.toBe(failure);
    expect(await stage.statesOfAttempts()).toEqual(['downloaded']);
  });

  it('starts none after it was stopped', async () => {
    const stage = await startStage();
    const end = new AbortController();
    const more: TaskSource = async function* (signal) {
      yield arrival(stage.lines(1));
      end.abort(new Error('enough'));
      signal.throwIfAborted();
    };
    stage.engines.hold();
    const { phases } = await stage.run([], { batch: { more, signal: end.signal } });
    expect(phases).toEqual(['left']);
  });
});
