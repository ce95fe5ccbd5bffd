/** Nodes of two versions over one database, as during an upgrade without an interruption. */
import { describe, expect, it } from 'vitest';
import { openPostgresAccount } from '../../src/service/store/open-postgres.ts';
import { MIGRATIONS, SCHEMA_VERSION } from '../../src/service/store/schema.ts';
import { NEW_JOB, until, untilJob } from '../service/harness/scene.ts';
import { NO_POSTGRES, usePostgres } from '../support/use-postgres.ts';
import { type Fleet, openFleet, translation } from './fleet.ts';

const server = usePostgres();

const EXPANDED = `
ALTER TABLE jobs ADD COLUMN note TEXT;
ALTER TABLE uploads ADD COLUMN note TEXT NOT NULL DEFAULT '';
CREATE TABLE notes (id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
`;
const NEXT = { migrations: [...MIGRATIONS, EXPANDED], oldestProgram: SCHEMA_VERSION };
const CONTRACTED = 'ALTER TABLE jobs DROP COLUMN client_reference;';
const AFTER_NEXT = { migrations: [...NEXT.migrations, CONTRACTED], oldestProgram: SCHEMA_VERSION + 1 };

/** Migrates the tables as the start of a program of that version does. */
async function startProgram({ database, stateDir }: Fleet, schema?: typeof NEXT): Promise<void> {
  const store = await openPostgresAccount(database, stateDir, Date.now, () => {}, schema);
  await store.close();
}

describe.skipIf(NO_POSTGRES)('nodes of two versions (needs postgresql: sh .ci/packages)', () => {
  it('work together after a migration that only adds to the tables', async () => {
    const fleet = await openFleet(server);
    const { caller } = await fleet.startApi();
    await fleet.startWorker();
    const before = await caller.post(NEW_JOB, translation());
    await untilJob(caller, before.json, 'succeeded');
    await startProgram(fleet, NEXT);
    const after = await caller.post(NEW_JOB, translation());
    expect(after.status).toBe(202);
    await untilJob(caller, after.json, 'succeeded');
    // One that starts again, as after a crash.
    await startProgram(fleet);
    await startProgram(fleet, NEXT);
  });

  it('refuse requests, look for no job and do not start once a migration has taken something from them', async () => {
    const fleet = await openFleet(server);
    const { caller, logged } = await fleet.startApi();
    const { logged: loggedByWorker } = await fleet.startWorker();
    const waiting = await caller.post(NEW_JOB, translation('fr'));
    await untilJob(caller, waiting.json, 'succeeded');
    await startProgram(fleet, AFTER_NEXT);
    const refused = await until(
      () => caller.get('/v1/credits'),
      ({ status }) => status !== 200,
    );
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBeDefined();
    const isClear = (entries: typeof logged) =>
      entries.some(({ error }) => String(error).includes('was written by a newer version of vloc'));
    expect(isClear(logged)).toBe(true);
    await until(() => isClear(loggedByWorker));
    await expect(startProgram(fleet)).rejects.toMatchObject({ facts: { code: 'STORE_NEWER' } });
  });
});
