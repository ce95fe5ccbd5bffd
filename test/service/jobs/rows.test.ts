import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createRecentRows, type JobLookup, type JobRow } from '../../../src/service/jobs/rows.ts';
import { openSqliteFile } from '../../../src/service/store/sqlite-file.ts';
import { openBareStore } from '../harness/stores.ts';

const JOB: JobLookup = { id: 'dub_a', keyId: 'key_a', kind: 'dubbing', now: 1_000 };

async function openRows() {
  const { store, file, path } = await openBareStore();
  file.script('CREATE TABLE IF NOT EXISTS jobs (id TEXT, progress INTEGER, created_at INTEGER) STRICT');
  file.run("INSERT INTO jobs VALUES ('dub_a', 0, 1)");
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
  it('is taken from memory while the store is unchanged', async () => {
    const { find, reads } = await openRows();
    expect([(await find())?.progress, (await find())?.progress]).toEqual([0, 0]);
    await nextTurn();
    await find();
    expect(reads()).toBe(1);
  });

  it('is read again after any change of this process, also one that returns rows, and after one undone', async () => {
    const { store, find } = await openRows();
    await find();
    await store.run('UPDATE jobs SET progress = 1');
    expect((await find())?.progress).toBe(1);
    await store.get('UPDATE jobs SET progress = 2 RETURNING id');
    expect((await find())?.progress).toBe(2);
    const undo = store.transaction(async (tx) => {
      await tx.run('UPDATE jobs SET progress = 3');
      throw new Error('undone');
    });
    await expect(undo).rejects.toThrow('undone');
    expect((await find())?.progress).toBe(2);
  });

  it('is not kept if it was read before a change', async () => {
    const { store, find } = await openRows();
    const before = find();
    const change = store.run('UPDATE jobs SET progress = 4');
    await Promise.all([before, change]);
    expect((await find())?.progress).toBe(4);
  });

  it('is read again in the next turn after a change of another process', async () => {
    const { path, find } = await openRows();
    await find();
    const other = openSqliteFile(path, { synchronous: 'NORMAL', advice: '' });
    other.run('UPDATE jobs SET progress = 7');
    other.close();
    await nextTurn();
    await nextTurn();
    expect((await find())?.progress).toBe(7);
  });

  it('is separate for another key, and absent after its retention', async () => {
    const { find, reads } = await openRows();
    await find();
    await find({ ...JOB, keyId: 'key_b' });
    expect(reads()).toBe(2);
    expect(await find({ ...JOB, now: 8 * 24 * 3_600_000 })).toBeUndefined();
  });
});
