import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { diskFailure } from '../../../src/base/failure.ts';
import { stuckFailure } from '../../../src/commands/context/stuck-failure.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { NoRoom } from '../../../src/service/storage/storage.ts';
import { makeFolder } from '../../support/make-folder.ts';

/** The error of SQLite for a statement after these. */
async function errorOf(...statements: readonly string[]): Promise<unknown> {
  const path = join(makeFolder(), 'store.sqlite');
  const [first, second] = [new DatabaseSync(path), new DatabaseSync(path, { timeout: 0 })];
  try {
    first.exec('BEGIN EXCLUSIVE');
    for (const statement of statements) first.exec(statement);
    second.exec('CREATE TABLE jobs (id TEXT)');
    return null;
  } catch (error) {
    return error;
  } finally {
    first.close();
    second.close();
  }
}

const full = Object.assign(new Error('write'), { code: 'ENOSPC' });

test.each([
  ['of a store that another process has locked', () => errorOf(), 'temporary', 'STORE_LOCKED'],
  ['of a store without a table', () => errorOf('SELECT 1 FROM turns'), 'refused', 'INTERNAL_DEFECT'],
  ['of a full disk', async () => new NoRoom('no room', { cause: full }), 'disk', 'DISK_ERROR'],
  [
    'of a full disk, met by an engine',
    async () => new NoRoom('no room', { cause: new JobFailure('STORAGE_ERROR', 'no room', { cause: full }) }),
    'disk',
    'DISK_ERROR',
  ],
  ['of damage', async () => diskFailure('STORE_DAMAGED', 'damaged', 'Restore.'), 'disk', 'STORE_DAMAGED'],
])('an error %s ends the run as what it is', async (_, makeError, category, code) => {
  expect(stuckFailure(await makeError(), '/state').facts).toMatchObject({ category, code });
});
