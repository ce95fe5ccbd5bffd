/** Accounts in a real PostgreSQL server, shared by several nodes. Two accounts of a server are two schemas. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Failure } from '../../../src/base/failure.ts';
import { openPostgresAccount } from '../../../src/service/store/open-postgres.ts';
import { openPostgresStore, type PostgresStore } from '../../../src/service/store/postgres-store.ts';
import { forPostgres, MIGRATIONS, SCHEMA_VERSION, tablesOf } from '../../../src/service/store/schema.ts';
import { DatabaseAway } from '../../../src/service/store/store.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { freshAccount } from '../../support/postgres.ts';
import { startMain } from '../../support/run-main.ts';
import { NO_POSTGRES, useOwnPostgres } from '../../support/use-postgres.ts';
import { send } from '../harness/caller.ts';
import { NEW_JOB, type Scene, startScene, TRANSLATION, until, untilJob } from '../harness/scene.ts';

const server = useOwnPostgres();

async function open(url = freshAccount(server), root?: string): Promise<PostgresStore> {
  const store = await openPostgresAccount(url, root ?? makeFolder(), Date.now);
  onTestFinished(() => store.close());
  return store;
}

/** Nodes of one service: they share the database and the folder. */
async function startNodes(count: number, options: Parameters<typeof startScene>[0] = {}): Promise<Scene[]> {
  const database = freshAccount(server);
  const stateDir = makeFolder();
  const nodes: Scene[] = [];
  for (let at = 0; at < count; at += 1) nodes.push(await startScene({ stateDir, database, ...options }));
  return nodes;
}

const at = <T>(list: readonly T[], index: number): T => {
  const found = list[index % list.length];
  if (found === undefined) throw new Error('the list is empty');
  return found;
};

describe.skipIf(NO_POSTGRES)('an account in PostgreSQL (needs postgresql: sh .ci/packages)', () => {
  it('is created once, by whichever node comes first', async () => {
    const url = freshAccount(server);
    const root = makeFolder();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open(url, root)));
    const versions = await Promise.all(stores.map((store) => store.all('SELECT version FROM vloc_version')));
    expect(new Set(versions.map((rows) => JSON.stringify(rows))).size).toBe(1);
    expect(versions[0]).toHaveLength(1);
  });

  it('needs no permission except for its own schema', async () => {
    const store = await open();
    await store.run(`CREATE ROLE limited LOGIN PASSWORD 'secret'`);
    await store.run('CREATE SCHEMA own AUTHORIZATION limited');
    const limited = await open(`${server.url.replace('user=vloc', 'user=limited')}&schema=own`);
    expect(await limited.get('SELECT count(*) AS count FROM jobs')).toEqual({ count: 0 });
  });

  it('runs transactions of all connections one after another', async () => {
    const store = await open();
    await store.run(`INSERT INTO tasks VALUES ('count', 0)`);
    const add = () =>
      store.transaction(async (tx) => {
        const row = await tx.get<{ begun_at: number }>('SELECT begun_at FROM tasks');
        await tx.run('UPDATE tasks SET begun_at = ?', (row?.begun_at ?? 0) + 1);
      });
    await Promise.all(Array.from({ length: 40 }, add));
    expect(await store.get('SELECT begun_at FROM tasks')).toEqual({ begun_at: 40 });
  });

  it('undoes a transaction that throws, and keeps statements outside of it', async () => {
    const store = await open();
    const failed = store.transaction(async (tx) => {
      await tx.run(`INSERT INTO tasks VALUES ('within', 1)`);
      await store.run(`INSERT INTO tasks VALUES ('outside', 1)`);
      throw new Error('undone');
    });
    await expect(failed).rejects.toThrow('undone');
    expect(await store.all('SELECT name FROM tasks')).toEqual([{ name: 'outside' }]);
  });

  it('never treats a transaction as committed in which a statement failed', async () => {
    const store = await open();
    const hidden = store.transaction(async (tx) => {
      await tx.run(`INSERT INTO tasks VALUES ('within', 1)`);
      await tx.run('INSERT INTO tasks VALUES (NULL, 1)').catch(() => undefined);
    });
    await expect(hidden).rejects.toThrow('a statement of the transaction failed');
    expect(await store.all('SELECT name FROM tasks')).toEqual([]);
  });

  it('refuses a statement of a transaction that has ended', async () => {
    const store = await open();
    const late = await store.transaction(async (tx) => tx);
    await expect(late.run(`INSERT INTO tasks VALUES ('late', 1)`)).rejects.toThrow('had ended');
  });

  it('ends the transaction of a node that stands still, so that the others go on', async () => {
    const [url, root] = [freshAccount(server), makeFolder()];
    const [still, other] = [await open(url, root), await open(url, root)];
    const [begun, continued] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const read = 'SELECT 1 AS one';
    const stopped = still.transaction(async (tx) => {
      await tx.get(read);
      begun.resolve();
      await continued.promise;
      await tx.get(read);
    });
    stopped.catch(() => undefined);
    await begun.promise;
    expect(await other.transaction((tx) => tx.get(read))).toEqual({ one: 1 });
    continued.resolve();
    await expect(stopped).rejects.toThrow(DatabaseAway);
  });

  it('reads times and sums as numbers, texts with question marks unchanged, and ids by their bytes', async () => {
    const store = await open();
    const now = Date.now();
    for (const name of ['b', 'B', 'a']) await store.run('INSERT INTO tasks VALUES (?, ?)', name, now);
    expect(
      await store.get(`SELECT sum(begun_at) AS sum, '?' AS mark FROM tasks WHERE name <> ?1`, 'a'),
    ).toEqual({ sum: 2 * now, mark: '?' });
    expect(await store.all('SELECT name FROM tasks ORDER BY name')).toEqual([
      { name: 'B' },
      { name: 'a' },
      { name: 'b' },
    ]);
  });
});

describe.skipIf(NO_POSTGRES)('an account of an older version', () => {
  /** As the first program with PostgreSQL would have left it, had it known only the first steps. */
  async function makeOld(url: string, root: string): Promise<void> {
    const store = await open(url, root);
    await store.transaction(async (tx) => {
      for (const table of tablesOf(SCHEMA_VERSION).toReversed())
        await store.script(tx, `DROP TABLE ${table}`);
      for (const step of MIGRATIONS.slice(0, 2)) await store.script(tx, forPostgres(step));
      await tx.run('UPDATE vloc_version SET version = 2');
      await tx.run(`INSERT INTO keys VALUES ('vk_a', 's', 'w', '[]', NULL, '', 1, NULL)`);
      await tx.run(`INSERT INTO ledger (id, amount, posted_at) VALUES ('tx_a', 5000, 1)`);
    });
  }

  it('is copied before it is upgraded, once and by one node, and the operator is informed of the path', async () => {
    const url = freshAccount(server);
    const root = makeFolder();
    await makeOld(url, root);
    const said: string[] = [];
    const nodes = await Promise.all(
      [1, 2, 3].map(() => openPostgresAccount(url, root, Date.now, (message) => said.push(message))),
    );
    for (const node of nodes) onTestFinished(() => node.close());
    expect(said).toEqual([expect.stringContaining(`before_${SCHEMA_VERSION}_jobs`)]);
    const store = at(nodes, 0);
    expect(await store.all(`SELECT id FROM before_${SCHEMA_VERSION}_keys`)).toEqual([{ id: 'vk_a' }]);
    expect(await store.get('SELECT version FROM vloc_version')).toEqual({ version: SCHEMA_VERSION });
  });

  it('can be used again by the older version, with the statements of deploy/postgres', async () => {
    const url = freshAccount(server);
    const root = makeFolder();
    await makeOld(url, root);
    const store = await open(url, root);
    await store.run(`INSERT INTO ledger (id, amount, posted_at) VALUES ('tx_b', 1, 2)`);
    const statements = (step: 1 | 2) =>
      readFile(new URL(`../../../deploy/postgres/upgrade-back-${step}.sql`, import.meta.url), 'utf8');
    const [remove, fill] = [await statements(1), await statements(2)];
    await store.transaction((tx) => store.script(tx, remove));
    // What the older version does with an account without tables.
    await store.transaction(async (tx) => {
      for (const step of MIGRATIONS.slice(0, 2)) await store.script(tx, forPostgres(step));
      await tx.run('UPDATE vloc_version SET version = 2');
    });
    await store.transaction((tx) => store.script(tx, fill));
    expect(await store.all('SELECT id FROM ledger')).toEqual([{ id: 'tx_a' }]);
    const again = await open(url, root);
    expect(await again.all('SELECT id FROM ledger')).toEqual([{ id: 'tx_a' }]);
  });

  it('is not changed if it cannot be copied', async () => {
    const url = freshAccount(server);
    const root = makeFolder();
    await makeOld(url, root);
    const store = openPostgresStore({
      url: url.replace(/&schema=\w+/, ''),
      schema: /\w+$/.exec(url)?.[0] ?? '',
    });
    onTestFinished(() => store.close());
    await store.run(`CREATE VIEW before_${SCHEMA_VERSION}_jobs AS SELECT 1 AS one`);
    await expect(open(url, root)).rejects.toThrow(/already exists/);
    expect(await store.get('SELECT version FROM vloc_version')).toEqual({ version: 2 });
    await expect(store.all('SELECT 1 FROM tasks')).rejects.toThrow(/does not exist/);
  });
});

const refusal = (url: string, now = Date.now) =>
  openPostgresAccount(url, makeFolder(), now).then(
    () => 'opened',
    (error) => `${error.facts?.code ?? error.code}: ${error.message}`,
  );

const failureOf = async (url: string): Promise<Failure> =>
  openPostgresAccount(url, makeFolder(), Date.now).then(
    () => expect.unreachable(),
    (error) => error,
  );

describe('a database without a server', () => {
  it('is named by its host, and by the folder of its socket', async () => {
    const folder = makeFolder();
    const encoded = encodeURIComponent(folder);
    const missing = `DATABASE_UNUSABLE: the database vloc (socket in ${folder}) cannot be reached: there is no such socket`;
    expect(await refusal(`postgres:///vloc?host=${encoded}`)).toBe(missing);
    expect(await refusal(`postgres://${encoded}/vloc`)).toBe(missing);
    // Left by a server that was killed: connecting to it fails as to any file.
    await writeFile(join(folder, '.s.PGSQL.5432'), '');
    expect(await refusal(`postgres:///vloc?host=${encoded}`)).toBe(
      `DATABASE_UNUSABLE: the database vloc (socket in ${folder}) cannot be reached: nothing listens there`,
    );
    expect(await refusal('postgres:///vloc?host=127.0.0.1&port=1')).toBe(
      'DATABASE_UNUSABLE: the database 127.0.0.1:1/vloc cannot be reached: nothing listens there',
    );
    expect(await refusal('postgres://:1/vloc')).toBe(
      'DATABASE_INVALID: this is not the address of a PostgreSQL database',
    );
  });
});

describe('the address of a database', () => {
  it('with a password that is not encoded is refused, and none of it is printed', async () => {
    for (const password of [
      'p@ss/hunter2',
      '12/hunter2',
      '12#hunter2',
      '12?hunter2',
      '12/3?a=hunter2',
      'hunter2/',
      'hunter2#',
      'hunter2%',
      'hunter2%ff',
    ]) {
      const failure = await failureOf(`postgres://vloc:${password}@db.example.com/vloc`);
      expect([password, failure]).toEqual([
        password,
        expect.objectContaining({ code: 'DATABASE_INVALID', advice: expect.stringContaining('%40 for @') }),
      ]);
      expect(failure.message).not.toMatch(/hunter|12|p@|example|vloc:/);
    }
  });

  it('is not quoted where it is none', async () => {
    for (const text of [
      'vloc:hunter2@db.example.com/vloc',
      'postgres:vloc:hunter2@db.example.com/vloc',
      'mysql://root:hunter2@db/x',
      'host=db password=hunter2',
    ]) {
      const { code, message } = await failureOf(text);
      expect([code, message]).toEqual([
        'DATABASE_INVALID',
        'this is not the address of a PostgreSQL database',
      ]);
    }
  });

  it('is printed as host and database alone', async () => {
    for (const password of ['hunter@2', 'hunter2:', '%68unter%2F2', '']) {
      expect(await refusal(`postgres://vloc:${password}@127.0.0.1:1/name?password=hunter2`)).toBe(
        'DATABASE_UNUSABLE: the database 127.0.0.1:1/name cannot be reached: nothing listens there',
      );
    }
  });

  it.each(['require', 'prefer', 'verify-ca'])('with sslmode=%s makes no library warn', async (mode) => {
    const warn = vi.spyOn(process, 'emitWarning');
    onTestFinished(() => warn.mockRestore());
    expect(await refusal(`postgres://vloc@127.0.0.1:1/vloc?sslmode=${mode}`)).toContain(
      'nothing listens there',
    );
    expect(warn).not.toHaveBeenCalled();
  });
});

describe.skipIf(NO_POSTGRES)('a database is refused before anything listens', () => {
  it('whose address, server, name, user or password is wrong, with the reason and never the password', async () => {
    const { url } = server;
    const cases: readonly (readonly [string, RegExp])[] = [
      ['mysql://127.0.0.1/x', /DATABASE_INVALID: .*not the address of a PostgreSQL database/],
      [`${url}&schema=Bad-Name`, /DATABASE_INVALID/],
      [
        'postgres://vloc:hidden@127.0.0.1:1/vloc',
        /DATABASE_UNUSABLE: .*127\.0\.0\.1:1\/vloc cannot be reached: nothing listens there/,
      ],
      [url.replace('/postgres?', '/nowhere?'), /has no database of that name/],
      [url.replace('password=secret', 'password=hidden'), /refused the password/],
      [url.replace('user=vloc', 'user=nobody'), /refused the password/],
    ];
    for (const [wrong, message] of cases) {
      const said = await refusal(wrong);
      expect(said).toMatch(message);
      expect(said).not.toContain('hidden');
    }
  });

  it('that another program uses, or a newer version', async () => {
    const newer = freshAccount(server);
    await (await open(newer)).run('UPDATE vloc_version SET version = 1000, oldest = 1000');
    expect(await refusal(newer)).toMatch(/STORE_NEWER: .*newer version of vloc/);
    const foreign = freshAccount(server);
    await (await open(foreign)).run('DROP TABLE vloc_version');
    expect(await refusal(foreign)).toMatch(/DATABASE_FOREIGN: .*tables of another program/);
  });

  it.each(['LATIN1', 'SQL_ASCII'])('that cannot keep all texts: %s', async (encoding) => {
    const store = await open();
    const name = `of_${encoding.toLowerCase()}`;
    await store.run(`CREATE DATABASE ${name} ENCODING '${encoding}' LOCALE 'C' TEMPLATE template0`);
    const { code, message, advice } = await failureOf(server.url.replace('/postgres?', `/${name}?`));
    expect([code, message]).toEqual([
      'DATABASE_UNUSABLE',
      expect.stringContaining(`keeps texts as ${encoding}`),
    ]);
    expect(advice).toContain('--encoding=UTF8');
  });

  it.each([1, 4])('that has no connection for a node: %d at most', async (limit) => {
    const store = await open();
    await store.run(`CREATE ROLE few${limit} LOGIN PASSWORD 'secret' CONNECTION LIMIT ${limit}`);
    await store.run(`CREATE SCHEMA few${limit} AUTHORIZATION few${limit}`);
    const database = `${server.url.replace('user=vloc', `user=few${limit}`)}&schema=few${limit}`;
    const env = { VLOC_STATE_DIR: makeFolder(), VLOC_DATABASE: database };
    const serving = startMain(['serve', '--output', 'plain', '--log', 'text'], { env });
    await Promise.race([serving.ended, until(serving.stdout, (text) => text !== '')]);
    serving.send('SIGTERM');
    const { code, stdout, stderr } = await serving.ended;
    expect(stderr).not.toContain('internal error');
    if (stdout !== '') return;
    expect([code, stderr]).toEqual([4, expect.stringContaining('has no free connection')]);
  });

  it('that is read-only', async () => {
    const url = freshAccount(server);
    const root = makeFolder();
    await open(url, root);
    const options = encodeURIComponent('-c default_transaction_read_only=on');
    await expect(open(`${url}&options=${options}`, root)).rejects.toMatchObject({
      code: 'DATABASE_UNUSABLE',
      message: expect.stringContaining('is read-only'),
    });
  });

  it('whose clock differs by an hour', async () => {
    const ahead = () => Date.now() + 3_600_000;
    expect(await refusal(freshAccount(server), ahead)).toMatch(
      /CLOCK_SKEW: the clock of this machine is 3600 s ahead of/,
    );
  });

  it('that belongs to another state folder', async () => {
    const url = freshAccount(server);
    const root = makeFolder();
    await open(url, root);
    expect(await refusal(url)).toMatch(/DATABASE_OF_ANOTHER: .*belongs to another state folder/);
    await rm(join(root, 'database.id'));
    await writeFile(join(root, 'database.id'), 'restored by mistake');
    await expect(open(url, root)).rejects.toThrow('another state folder');
  });
});

describe.skipIf(NO_POSTGRES)('nodes of one service', () => {
  it('refuse a key immediately that another node has revoked', async () => {
    const nodes = await startNodes(2);
    const issued = await at(nodes, 0).service.issueKey();
    const caller = at(nodes, 1).callerFor(issued);
    expect((await caller.get('/v1/credits')).status).toBe(200);
    await at(nodes, 0).service.changeKey(issued.key, { revoked: true });
    expect((await caller.get('/v1/credits')).status).toBe(401);
  });
});

describe.skipIf(NO_POSTGRES)('while the database is down', () => {
  it('requests get 503 with Retry-After; afterwards accepted jobs are done', async () => {
    const scene = await startScene({ database: freshAccount(server), metricsFrom: ['127.0.0.1'] });
    const { caller } = scene;
    const created = await caller.post(NEW_JOB, TRANSLATION);
    server.kill();
    const refused = await caller.get('/v1/credits');
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBeDefined();
    const { origin } = new URL(scene.service.url);
    for (const path of ['/healthz', '/readyz']) expect((await send(origin + path)).status).toBe(503);
    expect((await send(`${origin}/livez`)).status).toBe(200);
    const metrics = await send(`${origin}/metrics`);
    expect(metrics.bytes.toString()).toContain('vloc_database_up 0\n');
    server.start();
    await until(
      () => caller.get('/v1/credits'),
      ({ status }) => status === 200,
    );
    const done = await untilJob(caller, created.json, 'succeeded', 'failed');
    expect(done).toMatchObject({ status: 'succeeded', billing: { charged_credits: 1 } });
  });

  it('requests get 503 while a server after a failover is read-only, and are answered by the next one', async () => {
    const name = 'failover';
    const other = await open();
    await other.run(`CREATE DATABASE ${name}`);
    const { service, caller } = await startScene({
      database: server.url.replace('/postgres?', `/${name}?`),
      metricsFrom: ['127.0.0.1'],
    });
    const { origin } = new URL(service.url);
    const read = async (path: string) => (await send(origin + path)).bytes.toString();
    // New connections get a server that was promoted or demoted.
    const change = async (statement: string) => {
      await other.run(`ALTER DATABASE ${name} ${statement}`);
      await other.get(
        'SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = ?',
        name,
      );
    };
    await change('SET default_transaction_read_only = on');
    await until(
      async () => (await send(`${origin}/readyz`)).status,
      (status) => status === 503,
    );
    const refused = await caller.post(NEW_JOB, TRANSLATION);
    expect([refused.status, refused.json.code]).toEqual([503, 'SERVICE_TEMPORARILY_UNAVAILABLE']);
    expect(refused.headers['retry-after']).toBeDefined();
    expect(await read('/metrics')).toContain('vloc_database_up 0\n');
    // The connections that are open stay read-only.
    await other.run(`ALTER DATABASE ${name} RESET default_transaction_read_only`);
    await until(
      async () => (await caller.post(NEW_JOB, TRANSLATION)).status,
      (status) => status === 202,
    );
    await until(
      () => read('/metrics'),
      (text) => text.includes('vloc_database_up 1\n'),
    );
  });

  it('health and metrics are answered, also if it hangs', async () => {
    const { service } = await startScene({ database: freshAccount(server), metricsFrom: ['127.0.0.1'] });
    const { origin } = new URL(service.url);
    await expect.poll(async () => (await send(`${origin}/readyz`)).status).toBe(200);
    const pid = server.pid();
    const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ');
    const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
      for (const each of [pid, ...children.map(Number)]) {
        try {
          process.kill(each, name);
        } catch {
          // A connection that has ended since.
        }
      }
    };
    signal('SIGSTOP');
    onTestFinished(() => signal('SIGCONT'));
    expect((await send(`${origin}/metrics`)).bytes.toString()).toContain('vloc_database_up 0\n');
    await expect.poll(async () => (await send(`${origin}/readyz`)).status).toBe(503);
    expect((await send(`${origin}/livez`)).status).toBe(200);
    signal('SIGCONT');
    await expect.poll(async () => (await send(`${origin}/readyz`)).json.database).toBe('ok');
    await expect
      .poll(async () => (await send(`${origin}/metrics`)).bytes.toString())
      .toContain('vloc_database_up 1\n');
  });

  it('a finished result is kept, and recorded when the database is back', async () => {
    const { caller, engines, logged } = await startScene({ database: freshAccount(server) });
    engines.hold();
    const created = await caller.post(NEW_JOB, TRANSLATION);
    await until(() => engines.begun.length === 1);
    server.kill();
    engines.letGo();
    await until(() => logged.some(({ message }) => message.includes('a result is not recorded yet')));
    server.start();
    const done = await untilJob(caller, created.json, 'succeeded', 'failed');
    expect(done).toMatchObject({ status: 'succeeded', billing: { charged_credits: 1 } });
    expect(engines.begun).toHaveLength(1);
  });
});
