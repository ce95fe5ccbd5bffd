import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createRecentRows, type JobLookup, type JobRow } from '../../../src/service/jobs/rows.ts';
import { openStore } from '../../../src/service/store/store.ts';
import { makeStateDir } from '../harness/scene.ts';

const JOB: JobLookup = { id: 'dub_a', keyId: 'key_a', kind: 'dubbing', now: 1_000 };

async function openRows() {
  const path = join(await makeStateDir(), 'store.sqlite');
  const store = openStore(path, { synchronous: 'NORMAL', advice: '' });
  store.script('CREATE TABLE IF NOT EXISTS jobs (id TEXT, progress INTEGER, created_at INTEGER) STRICT');
  store.run("INSERT INTO jobs VALUES ('dub_a', 0, 1)");
  const rows = createRecentRows(store);
  let reads = 0;
  const find = (job: JobLookup = JOB) =>
    rows.find(job, () => {
      reads += 1;
      // The columns that this test is about.
      return store.get<JobRow>('SELECT progress, created_at FROM jobs WHERE id = ?', job.id);
    });
  return { store, path, find, reads: () => reads };
}

describe('a job that is read again', () => {
  it('is taken from memory while the store is as it was', async () => {
    const { find, reads } = await openRows();
    expect([find()?.progress, find()?.progress]).toEqual([0, 0]);
    await nextTurn();
    find();
    expect(reads()).toBe(1);
  });

  it('is read anew after any change of this process, also one that gives rows, and after one taken back', async () => {
    const { store, find } = await openRows();
    find();
    store.run('UPDATE jobs SET progress = 1');
    expect(find()?.progress).toBe(1);
    store.get('UPDATE jobs SET progress = 2 RETURNING id');
    expect(find()?.progress).toBe(2);
    const undo = () =>
      store.transaction(() => {
        store.run('UPDATE jobs SET progress = 3');
        expect(find()?.progress).toBe(3);
        throw new Error('undone');
      });
    expect(undo).toThrow('undone');
    expect(find()?.progress).toBe(2);
  });

  it('is read anew in the next turn after a change of another process', async () => {
    const { path, find } = await openRows();
    find();
    const other = openStore(path, { synchronous: 'NORMAL', advice: '' });
    other.run('UPDATE jobs SET progress = 7');
    other.close();
    await nextTurn();
    await nextTurn();
    expect(find()?.progress).toBe(7);
  });

  it('is another one for another key, and none once it is past its retention', async () => {
    const { find, reads } = await openRows();
    find();
    find({ ...JOB, keyId: 'key_b' });
    expect(reads()).toBe(2);
    expect(find({ ...JOB, now: 8 * 24 * 3_600_000 })).toBeUndefined();
  });
});
