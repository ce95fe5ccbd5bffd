import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeScratch } from '../../../src/batch/records/record-folder.ts';
import { openBatch } from '../../../src/batch/run/open-batch.ts';
import { makeFolder } from '../../support/make-folder.ts';

const makeOut = () => join(makeFolder(), 'out');

describe('a run that records nothing', () => {
  it('leaves no new folder behind', async () => {
    const out = makeOut();
    for (const shard of [undefined, { index: 1, count: 2 }]) {
      await (await openBatch({ folder: out, shard })).close();
      expect(existsSync(out)).toBe(false);
    }
  });

  it('keeps a folder with files of the user, and the records of earlier runs', async () => {
    const out = makeOut();
    await mkdir(out);
    await writeFile(join(out, 'mine.txt'), 'x');
    await (await openBatch({ folder: out })).close();
    expect([existsSync(join(out, 'mine.txt')), existsSync(join(out, '.vloc'))]).toEqual([true, false]);
    const first = await openBatch({ folder: out });
    await first.journal.add({ type: 'batch_name', batch: '0123456789', is_certain: true });
    await first.close();
    await (await openBatch({ folder: out })).close();
    const last = await openBatch({ folder: out });
    expect(last.journal.isEmpty).toBe(false);
    await last.close();
  });
});

describe('a run after one that was killed', () => {
  it('removes the unfinished files of that one, and not those of another shard', async () => {
    const out = makeOut();
    const placeOf = (index: number) => ({ folder: out, shard: { index, count: 2 } });
    const left = await Promise.all([1, 2].map((index) => makeScratch(placeOf(index))));
    for (const folder of left) await writeFile(join(folder, 'made.json'), 'x');
    await (await openBatch(placeOf(1))).close();
    expect(left.map((folder) => existsSync(folder))).toEqual([false, true]);
  });
});

describe('a folder that another run has taken over', () => {
  it('keeps the records of that run when the first one is closed', async () => {
    const out = makeOut();
    const suspended = await openBatch({ folder: out });
    // The lock of a dead holder is replaced by that of its successor.
    await rm(join(out, '.vloc', 'lock'));
    const next = await openBatch({ folder: out });
    await next.journal.add({ type: 'batch_name', batch: '0123456789', is_certain: true });
    await suspended.close();
    await next.close();
    const last = await openBatch({ folder: out });
    expect(last.journal.isEmpty).toBe(false);
    await last.close();
  });

  it('gets no record of the first run any more, at whatever moment of a write it was taken over', async () => {
    for (let turns = 0; turns < 20; turns += 1) {
      const out = makeOut();
      const { journal, close } = await openBatch({ folder: out });
      let isTaken = false;
      const added = journal.add({ type: 'batch_name', batch: '0123456789', is_certain: true }).then(
        () => ({ isTaken }),
        ({ facts }) => facts.code,
      );
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
      writeFileSync(join(out, '.vloc', 'lock'), JSON.stringify({ token: 'another' }));
      isTaken = true;
      expect([{ isTaken: false }, 'LOCK_LOST']).toContainEqual(await added);
      await close();
    }
  });
});

describe('a folder that a run has open', () => {
  it('is refused to a second run with the process that has it, and the refusal removes nothing', async () => {
    const out = makeOut();
    const first = await openBatch({ folder: out });
    const message = expect.stringContaining(`process ${process.pid} on `);
    const refused = { message, facts: { category: 'temporary', code: 'BATCH_LOCKED' } };
    await expect(openBatch({ folder: out })).rejects.toMatchObject(refused);
    await first.journal.add({ type: 'batch_name', batch: '0123456789', is_certain: true });
    await first.close();
    expect(existsSync(join(out, '.vloc'))).toBe(true);
  });
});
