/** Runs that end early, meet another one, or have lost what they wrote down. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { lockPath, recordsPath } from '../../../src/batch/records/record-folder.ts';
import { TRANSLATION, until } from '../../service/harness/scene.ts';
import { linesItem } from './support/items.ts';
import { startStage } from './support/stage.ts';

describe('a suspended run whose folder another run has taken over', () => {
  it('stops before it writes or pays anything more, and says why', async () => {
    const stage = await startStage();
    stage.engines.hold();
    const running = stage.run(stage.lines(2)).catch((error) => error);
    await until(
      stage.statesOfAttempts,
      (phases) => phases.filter((each) => each === 'accepted').length === 2,
    );
    const lock = lockPath({ folder: stage.out });
    const holder = JSON.parse(await readFile(lock, 'utf8'));
    await writeFile(lock, JSON.stringify({ ...holder, token: 'of another' }));
    const journal = await readFile(recordsPath({ folder: stage.out }));
    stage.engines.letGo();
    const failure = await running;
    expect(failure.facts).toMatchObject({ category: 'temporary', code: 'LOCK_LOST', retryable: true });
    expect(failure.message).toContain(`another vloc has taken over ${stage.out}`);
    expect(journal.equals(await readFile(recordsPath({ folder: stage.out })))).toBe(true);
    expect(await readFile(lock, 'utf8')).toContain('of another');

    await rm(lock);
    expect((await stage.run(stage.lines(2))).phases).toEqual(['done', 'done']);
    expect(await stage.books()).toMatchObject({ jobs: 2, charged: 2 });
  });
});

describe('a lost journal', () => {
  it('is rebuilt from the lists: running jobs are waited for, finished ones fetched', async () => {
    const stage = await startStage();
    const items = [...stage.lines(2), ...(await stage.video('talk.mp4', 30))];
    await stage.run(items);
    await rm(stage.out, { recursive: true });
    const { phases, warnings } = await stage.run(items);
    expect(phases).toEqual(['done', 'done', 'done']);
    expect(warnings).toEqual([expect.stringContaining('3 jobs were found again')]);
    expect(await stage.books()).toMatchObject({ jobs: 3, charged: 3 });
  });

  it('is rebuilt for files of the same bytes, each with a job of its own', async () => {
    const stage = await startStage();
    const alike = ['a', 'b'].map((folder) => ({ ...linesItem(0, {}, `${folder}/talk.srt`), folder }));
    await stage.run(alike);
    await rm(stage.out, { recursive: true });
    const { phases, outcomes } = await stage.run(alike);
    expect(phases).toEqual(['done', 'done']);
    expect(new Set(outcomes.map(({ job }) => job?.id)).size).toBe(2);
    expect(await stage.books()).toMatchObject({ jobs: 2, charged: 2 });
  });

  it('is rebuilt beyond the newest page of the list', async () => {
    const stage = await startStage({ config: { concurrentTasks: 51 } });
    const items = stage.lines(1);
    await stage.run(items);
    for (let other = 0; other < 50; other += 1)
      await stage.caller.post('/v1/subtitle-translations', TRANSLATION);
    await rm(stage.out, { recursive: true });
    expect((await stage.run(items)).phases).toEqual(['done']);
    expect((await stage.books()).jobs).toBe(51);
  });

  it('of another folder is used with --rebuild only', async () => {
    const stage = await startStage();
    const items = stage.lines(2);
    await stage.run(items);
    await stage.run(items, { out: 'other', options: { rebuild: true } });
    expect(await stage.books()).toMatchObject({ jobs: 2 });
    await stage.run(items, { out: 'third' });
    expect(await stage.books()).toMatchObject({ jobs: 4 });
  });
});
