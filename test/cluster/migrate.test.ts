/** `vloc serve migrate` between real state folders and a real PostgreSQL server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CREATE_MARK } from '../../src/service/store/mark.ts';
import { openPostgresStore } from '../../src/service/store/postgres-store.ts';
import { forPostgres } from '../../src/service/store/schema.ts';
import { send } from '../service/harness/caller.ts';
import { NEW_JOB, startScene, TRANSLATION, untilJob } from '../service/harness/scene.ts';
import { makeFolder } from '../support/make-folder.ts';
import { freshAccount } from '../support/postgres.ts';
import { NO_POSTGRES, usePostgres } from '../support/use-postgres.ts';
import { makeAccount, migrate, migrated, rowsOf, undo } from './harness/moving.ts';

const server = usePostgres();

async function sql(database: string, ...statements: string[]): Promise<unknown[]> {
  const schema = /schema=(\w+)/.exec(database)?.[1] ?? '';
  const store = openPostgresStore(
    { url: database.replace(/&schema=\w+/, ''), schema },
    () => new Error('in use') as never,
  );
  try {
    let rows: unknown[] = [];
    for (const statement of statements) rows = await store.all(statement);
    return rows;
  } finally {
    await store.close();
  }
}

const refused = (code: string) => ({ code: 4, stderr: expect.stringContaining(code) });

describe.skipIf(NO_POSTGRES)('an account moved to PostgreSQL (needs postgresql: sh .ci/packages)', () => {
  it('is the same there and back, row by row, and the counts and sums are reported', async () => {
    const { stateDir } = await makeAccount();
    const before = rowsOf(stateDir);
    expect(before.deliveries).toHaveLength(1);
    const database = freshAccount(server);
    const moved = await migrated(database, '--from', stateDir);
    expect(moved).toMatchObject({ keys: 2, jobs: 3, uploads: 1, files: 0, reserved_credits: 1 });
    expect(moved.ledger_entries).toBe(before.ledger?.length);
    expect(JSON.stringify(moved)).not.toContain('secret');
    const back = makeFolder();
    const returned = await migrated(database, '--to', back, '--state-dir', stateDir);
    expect(rowsOf(back)).toEqual(before);
    expect(returned).toMatchObject({ balance_credits: moved.balance_credits, reserved_credits: 1 });
    expect(returned.files).toBeGreaterThan(0);
    for (const folder of ['uploads', 'assets']) {
      const names = (root: string) => readdir(join(root, folder), { recursive: true });
      expect((await names(back)).sort()).toEqual((await names(stateDir)).sort());
    }
  });

  it('continues there: jobs are read and finished, intents and nonces are known, nothing is paid twice', async () => {
    const account = await makeAccount();
    const database = freshAccount(server);
    await migrated(database, '--from', account.stateDir);
    const scene = await startScene({ database, stateDir: account.stateDir, allowLoopback: true });
    const caller = scene.callerFor(account.credentials);
    const replayed = await caller.post(NEW_JOB, TRANSLATION, 'intent-done');
    expect([replayed.json.id, replayed.headers['idempotency-replayed']]).toEqual([account.done.id, 'true']);
    const again = await send(`${scene.service.url}/credits`, { headers: account.used });
    expect(again.status).toBe(401);
    const open = await untilJob(caller, account.open, 'succeeded');
    expect(open).toMatchObject({ client_reference: 'kept', billing: { charged_credits: 1 } });
    const dub = await caller.post('/v1/audio-separations', {
      source: { type: 'upload', upload_id: account.upload },
    });
    await untilJob(caller, dub.json, 'succeeded');
    const result = await caller.get(account.done.detail_url);
    expect(result.json).toMatchObject({ status: 'succeeded', billing: { charged_credits: 1 } });
  });

  it('is no longer used at the old place, unless requested', async () => {
    const { stateDir } = await makeAccount();
    const database = freshAccount(server);
    await migrated(database, '--from', stateDir);
    const start = () => startScene({ stateDir });
    await expect(start()).rejects.toMatchObject({
      facts: {
        code: 'STORE_MOVED',
        message: expect.stringMatching(/was moved to postgres \(socket in .+\) on \d{4}-/),
      },
    });
    expect(await migrate(freshAccount(server), '--from', stateDir)).toMatchObject(refused('was moved to'));
    expect(await undo(stateDir)).toMatchObject({ code: 0, stderr: expect.stringContaining('Usable again') });
    expect(await (await start()).service.keys()).toHaveLength(2);
    expect(await undo(makeFolder())).toMatchObject({ code: 2 });
  });

  it('is refused in the database it was moved from, also by a node that comes back late', async () => {
    const database = freshAccount(server);
    const { stateDir } = await makeAccount(database);
    const back = makeFolder();
    await migrated(database, '--to', back, '--state-dir', stateDir);
    await expect(startScene({ database, stateDir })).rejects.toMatchObject({
      facts: { code: 'STORE_MOVED' },
    });
    const schema = /schema=(\w+)/.exec(database)?.[1] ?? '';
    const late = openPostgresStore({ url: database.replace(/&schema=\w+/, ''), schema });
    onTestFinished(() => late.close());
    await expect(late.run('DELETE FROM jobs')).rejects.toMatchObject({
      cause: { facts: { code: 'STORE_MOVED' } },
    });
    expect(await (await startScene({ stateDir: back })).service.keys()).toHaveLength(2);
  });
});

describe.skipIf(NO_POSTGRES)('a move is refused', () => {
  it('while a service runs on the source, in a folder or in a database', async () => {
    const scene = await startScene();
    const database = freshAccount(server);
    expect(await migrate(database, '--from', scene.stateDir)).toMatchObject(refused('uses the account'));
    const node = await startScene({ database, config: { workers: 0, webhookSlots: 0 } });
    const back = makeFolder();
    expect(await migrate(database, '--to', back, '--state-dir', node.stateDir)).toMatchObject(
      refused('uses the account'),
    );
    await scene.service.close();
    expect(await migrate(database, '--from', scene.stateDir)).toMatchObject(refused('uses the account'));
  });

  it('into an account, and into a folder with files', async () => {
    const { stateDir } = await makeAccount();
    const database = freshAccount(server);
    const other = await makeAccount(database);
    expect(await migrate(database, '--from', stateDir)).toMatchObject(refused('has an account'));
    expect(await migrate(database, '--to', stateDir, '--state-dir', other.stateDir)).toMatchObject(
      refused('has files of an account'),
    );
    const folder = makeFolder();
    await mkdir(join(folder, 'uploads'));
    await writeFile(join(folder, 'uploads', 'mine'), 'kept');
    expect(await migrate(database, '--to', folder, '--state-dir', other.stateDir)).toMatchObject(
      refused('such as mine'),
    );
    expect(await readFile(join(folder, 'uploads', 'mine'), 'utf8')).toBe('kept');
    // Neither source has changed.
    await startScene({ stateDir });
    await startScene({ database, stateDir: other.stateDir });
  });

  it('from an empty database, and with the files of another account', async () => {
    const database = freshAccount(server);
    const folder = makeFolder();
    expect(await migrate(database, '--to', folder)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no service'),
    });
    await makeAccount(database);
    expect(await migrate(database, '--to', folder)).toMatchObject(refused('belongs to another state folder'));
    expect(await readdir(folder)).not.toContain('database.id');
  });

  it('from a store of an older version, which is not changed', async () => {
    const stateDir = makeFolder();
    const old = fileURLToPath(new URL('../fixtures/version-0.1/service/service.sqlite', import.meta.url));
    await writeFile(join(stateDir, 'service.sqlite'), await readFile(old));
    expect(await migrate(freshAccount(server), '--from', stateDir)).toMatchObject(refused('older version'));
  });
});

describe.skipIf(NO_POSTGRES)('a move that was interrupted', () => {
  it('after the copy was complete starts over, with what the source has by then', async () => {
    const { stateDir } = await makeAccount();
    const database = freshAccount(server);
    await migrated(database, '--from', stateDir);
    // As it is between the two transactions: the target is complete and still marked, the source is not marked.
    await undo(stateDir);
    await sql(
      database,
      forPostgres(CREATE_MARK),
      `INSERT INTO vloc_moved VALUES ('arriving', 'an-id', 'a folder', 0)`,
      'UPDATE vloc_version SET version = version + 1000000',
    );
    await expect(startScene({ database, stateDir })).rejects.toMatchObject({
      facts: { code: 'STORE_INCOMPLETE' },
    });
    const meanwhile = await startScene({ stateDir });
    await meanwhile.service.issueKey();
    await meanwhile.service.close();
    expect(await migrated(database, '--from', stateDir)).toMatchObject({ keys: 3 });
    expect(await (await startScene({ database, stateDir })).service.keys()).toHaveLength(3);
  });

  it('after the source was marked is completed by the next run', async () => {
    const { stateDir } = await makeAccount();
    const database = freshAccount(server);
    await migrated(database, '--from', stateDir);
    const source = new DatabaseSync(join(stateDir, 'service.sqlite'));
    const { id } = source.prepare('SELECT id FROM vloc_moved').get() ?? {};
    source.close();
    await sql(
      database,
      forPostgres(CREATE_MARK),
      `INSERT INTO vloc_moved VALUES ('arriving', '${id}', 'a folder', 0)`,
      'UPDATE vloc_version SET version = version + 1000000',
    );
    expect(await migrated(database, '--from', stateDir)).toMatchObject({ keys: 2, jobs: 3 });
    expect(await (await startScene({ database, stateDir })).service.keys()).toHaveLength(2);
  });

  it('by a kill at any moment leaves one usable account, and the next run completes it', async () => {
    const { stateDir } = await makeAccount();
    const before = rowsOf(stateDir);
    let place = { database: freshAccount(server), from: stateDir };
    const program = fileURLToPath(new URL('./migrate-host.ts', import.meta.url));
    for (const delayMs of [0, 40, 150]) {
      const { database, from } = place;
      const to = makeFolder();
      const child = spawn(process.execPath, [program, from, database, to], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      const ended = once(child, 'close');
      setTimeout(() => child.kill('SIGKILL'), delayMs);
      await ended;
      // It moves to the database and then to another folder; each run again completes its half.
      const half = await migrate(database, '--from', from);
      if (half.code !== 0) expect(half.stderr).toMatch(/was moved to|has an account/);
      const rest = await migrate(database, '--to', to, '--state-dir', from);
      if (rest.code !== 0) expect(rest.stderr).toMatch(/was moved to/);
      expect(rowsOf(to)).toEqual(before);
      place = { database: freshAccount(server), from: to };
    }
  });
});
