import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tryLock } from '../../../src/batch/records/lock.ts';
import { thisMachine } from '../../../src/batch/records/machine.ts';
import { checkLocks, clearLocks } from '../../../src/commands/doctor/machine.ts';
import { FOREIGN_HOLDER } from '../../batch/records/support/foreign-holder.ts';
import { makeFolder } from '../../support/make-folder.ts';

function makeFolders() {
  const root = makeFolder();
  const folders = { state: join(root, 'state'), config: join(root, 'config'), current: join(root, 'here') };
  const records = join(folders.state, 'jobs', 'profile');
  mkdirSync(records, { recursive: true });
  mkdirSync(folders.current);
  return { folders, records };
}

/** Of a process that has ended on this machine. */
function leaveDead(path: string): void {
  const { boot, host, pid_space } = thisMachine();
  const gone = { pid: 2 ** 22 + 1, started: '1', boot, host, pid_space };
  writeFileSync(
    path,
    JSON.stringify({ ...gone, token: path, since: '2026-11-19T08:00:00.000Z', folder: '/srv' }),
  );
}

describe('the check of the locks', () => {
  it('finds none if nothing runs', async () => {
    const { folders } = makeFolders();
    expect(await checkLocks(folders)).toMatchObject({ grade: 'ok', message: 'no lock is held' });
  });

  it('names the holders of locks, since when, and which are stale, and removes none', async () => {
    const { folders, records } = makeFolders();
    for (const number of [1, 2]) leaveDead(join(records, `${number}.log.lock`));
    writeFileSync(join(records, '3.json'), 'not a lock');
    const held = await tryLock(join(folders.state, 'records.db.lock'));
    const { host } = thisMachine();
    const result = await checkLocks(folders);
    expect(result.grade).toBe('warn');
    expect(result.message).toContain(
      `2 stale, left by process ${2 ** 22 + 1} on ${host} in /srv since 2026-11-19T08`,
    );
    expect(result.message).toContain(
      `1 held by process ${process.pid} on ${host} in ${process.cwd()} since `,
    );
    expect(result.fix).toContain('vloc doctor --clear-locks');
    expect(readdirSync(records)).toHaveLength(3);
    if (held.taken) await held.lock.release();
  });

  it('calls a file that names no holder damaged, which the next run takes over', async () => {
    const { folders, records } = makeFolders();
    writeFileSync(join(records, '1.log.lock'), '{"pid":');
    expect(await checkLocks(folders)).toMatchObject({
      grade: 'warn',
      message: 'locks: 1 damaged',
      facts: { locks: [{ state: 'stale', pid: null }] },
    });
  });

  it('shows a lock of another machine as stale once its heartbeat is an hour old', async () => {
    const { folders, records } = makeFolders();
    const path = join(records, '1.log.lock');
    writeFileSync(path, JSON.stringify(FOREIGN_HOLDER));
    expect(await checkLocks(folders)).toMatchObject({ grade: 'ok', facts: { locks: [{ state: 'held' }] } });
    utimesSync(path, 0, 0);
    expect(await checkLocks(folders)).toMatchObject({
      grade: 'warn',
      facts: {
        locks: [{ path, state: 'stale', pid: 7, host: 'shelf', last_heartbeat: '1970-01-01T00:00:00.000Z' }],
      },
    });
  });
});

it('clearing removes the locks of dead processes, and no other file', async () => {
  const { folders, records } = makeFolders();
  for (const number of [1, 2, 3]) leaveDead(join(records, `${number}.log.lock`));
  mkdirSync(join(folders.current, '.vloc'));
  writeFileSync(join(records, 'notes.txt'), 'mine');
  const held = await tryLock(join(folders.state, 'records.db.lock'));
  expect(await clearLocks(folders)).toBe(3);
  expect(readdirSync(records)).toEqual(['notes.txt']);
  expect(existsSync(join(folders.state, 'records.db.lock'))).toBe(true);
  if (held.taken) await held.lock.release();
});
