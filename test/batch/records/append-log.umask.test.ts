// Beside append-log.test.ts, since the mutation run has its tests in worker threads, which cannot set the umask.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openAppendLog } from '../../../src/batch/records/append-log.ts';
import { newFolder } from './support/folder.ts';

const line = (number: number) => ({ type: 'line', number });
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

it('a log is readable by its owner only, whatever the umask', async () => {
  const path = join(newFolder(), 'state', 'deeper', 'log');
  const before = process.umask(0);
  try {
    const { log } = await openAppendLog(path);
    await log.append(line(1));
    await log.append(line(2), line(3));
    await log.compact((records) => [...records].slice(-1));
    await log.close();
  } finally {
    process.umask(before);
  }
  expect(mode(path)).toBe('600');
  expect(mode(join(path, '..'))).toBe('700');
  expect(mode(join(path, '../..'))).toBe('700');
});
