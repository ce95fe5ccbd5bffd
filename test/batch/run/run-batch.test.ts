import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readUsableUploads } from '../../../src/batch/records/upload-record.ts';
import { openBatchJournal } from '../../../src/batch/run/journal.ts';
import { until } from '../../service/harness/scene.ts';
import { startStage } from './support/stage.ts';

describe('a batch', () => {
  it('makes one upload and a job for each language, writes the results beside each other, and tells their cost again', async () => {
    const stage = await startStage();
    const items = await stage.video('talk.mp4', 30, ['es', 'fr']);
    const { phases, events } = await stage.run(items);
    expect(phases).toEqual(['done', 'done']);
    expect((await readdir(stage.out)).sort()).toEqual(['.vloc', 'talk.es.mp4', 'talk.fr.mp4']);
    expect(await stage.books()).toEqual({ jobs: 2, charged: 2, reserved: 0, uploads: 1 });
    expect(await stage.statesOfAttempts()).toEqual(['downloaded', 'downloaded']);
    const told = events.flatMap((event) => (event.type === 'item' ? [event.state.phase] : []));
    for (const phase of ['uploading', 'validating', 'ready', 'submitting', 'downloading', 'done'])
      expect(told).toContain(phase);
    const costs = { reserved: 0, charged: 2, unknown: 0, committed: 2, ofThisRun: 0 };
    const again = await stage.run(items);
    expect(again.events).toContainEqual(expect.objectContaining({ type: 'credits', ...costs }));
  });

  it('sends the bytes of a file once for two result folders, and again if the service no longer accepts the upload', async () => {
    const stage = await startStage();
    const items = await stage.video('talk.mp4', 30);
    await stage.run(items);
    await stage.run(items, { out: 'other' });
    expect(await stage.books()).toMatchObject({ jobs: 2, uploads: 1 });
    const uploads = async () =>
      (await readUsableUploads(join(stage.folder, 'state'), 0)).map(({ upload_id: id }) => id);
    const [before] = await uploads();
    // The upload expires at the service while the record here takes it for ready.
    const day = 24 * 60 * 60_000;
    stage.clock.advance(8 * day);
    const { phases } = await stage.run(items, { out: 'third' });
    expect(phases).toEqual(['done']);
    expect(before).toMatch(/^upl_/);
    expect(await uploads()).not.toContain(before);
  });

  it('returns with --detach as soon as the jobs are made, and fetches results that were finished since', async () => {
    const stage = await startStage();
    const items = stage.lines(2);
    stage.engines.hold();
    const detached = await stage.run(items, { options: { detach: true } });
    const left = { phase: 'left', because: 'detached' };
    expect(detached.outcomes.map(({ state }) => state)).toMatchObject([left, left]);
    expect(await stage.statesOfAttempts()).toEqual(['accepted', 'accepted']);
    const again = await stage.run(items, { options: { detach: true } });
    expect(again.phases).toEqual(['left', 'left']);
    stage.engines.letGo();
    await until(async () => (await stage.books()).charged === 2);
    expect((await stage.run(items, { options: { detach: true } })).phases).toEqual(['done', 'done']);
    expect(await stage.books()).toMatchObject({ jobs: 2, charged: 2 });
  });

  it('also with --detach reports that a job was cancelled', async () => {
    const stage = await startStage();
    const items = stage.lines(1);
    stage.engines.hold();
    const { outcomes } = await stage.run(items, { options: { detach: true } });
    const jobId = outcomes[0]?.job?.id;
    await stage.caller.delete(`/v1/subtitle-translations/${jobId}`);
    const again = await stage.run(items, { options: { detach: true } });
    expect(again.outcomes[0]?.state).toMatchObject({
      phase: 'failed',
      failure: { facts: { code: 'JOB_CANCELLED', advice: expect.stringContaining('For a new job') } },
    });
    stage.engines.letGo();
  });

  it('recognizes its own result that was on the disk before its record', async () => {
    const stage = await startStage();
    const items = stage.lines(1);
    await stage.run(items);
    await loseDownloads(stage.out);
    const path = join(stage.out, 'talk-0.es.srt');
    const { ino } = await stat(path);
    expect((await stage.run(items)).phases).toEqual(['done']);
    expect((await stat(path)).ino).toBe(ino);
    await writeFile(path, 'mine');
    await loseDownloads(stage.out);
    const { outcomes } = await stage.run(items);
    expect(outcomes[0]?.state).toMatchObject({
      phase: 'failed',
      failure: { facts: { code: 'TARGET_EXISTS' } },
    });
    expect(await readFile(path, 'utf8')).toBe('mine');
  });
});

/** As if the run had ended before it noted what it has downloaded. */
async function loseDownloads(out: string): Promise<void> {
  const journal = await openBatchJournal({ folder: out });
  const at = new Date().toISOString();
  const items = [...journal.attempts.byItem.keys()];
  const lost = items.map((item) => ({ type: 'item_forgotten', at, item, as: item }) as const);
  await journal.add(...lost).finally(() => journal.close());
}
