/** `vloc serve migrate --storage`: files go into a real bucket and back. */
import { randomUUID } from 'node:crypto';
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openPostgresStore } from '../../src/service/store/postgres-store.ts';
import { exchange } from '../service/harness/caller.ts';
import { startScene, until, untilJob } from '../service/harness/scene.ts';
import { makeFolder } from '../support/make-folder.ts';
import { digestTree } from '../support/untouched.ts';
import { type BucketCluster, MISSING, makeCluster, server } from './harness/bucket-nodes.ts';
import { makeAccount, migrate, migrated, rowsOf } from './harness/moving.ts';

/** The bucket is searched every hour for files without a record. */
const SWEPT_MS = 2 * 60 * 60_000;

const filesIn = (stateDir: string) => digestTree(stateDir, (path) => /^(uploads|assets)\//.test(path));

const into = ({ options }: BucketCluster, stateDir: string) =>
  migrate(options.database, '--from', stateDir, '--storage', options.storage);

describe.skipIf(MISSING !== null)(`files of an account that is moved (${MISSING ?? 'with a bucket'})`, () => {
  it('are used in the bucket: uploads by new jobs, results by their owners', async () => {
    const account = await makeAccount();
    const cluster = await makeCluster();
    const { database, storage } = cluster.options;
    const moved = await migrated(database, '--from', account.stateDir, '--storage', storage);
    expect(moved).toMatchObject({ keys: 2, jobs: 3, uploads: 1 });
    expect(moved.files).toBe(Object.keys(await filesIn(account.stateDir)).length);

    const node = await cluster.node({ allowLoopback: true });
    const caller = node.callerFor(account.credentials);
    const source = { type: 'upload', upload_id: account.upload };
    const again = await caller.post('/v1/audio-separations', { source });
    expect(await untilJob(caller, again.json, 'succeeded', 'failed')).toMatchObject({ status: 'succeeded' });
    const { json: job } = await caller.get(account.separated.detail_url);
    const { url, size_bytes: size } = job.result.vocal_audio ?? Object.values(job.result)[0];
    expect(url).toContain(server().s3.endpoint);
    const download = await exchange(url);
    expect([download.status, download.bytes.length]).toEqual([200, size]);
    await untilJob(caller, account.open, 'succeeded');
  });

  it('are deleted if they have no record any more, including results whose folders an older version named', async () => {
    const { stateDir } = await makeAccount();
    const assets = join(stateDir, 'assets');
    const names = await readdir(assets);
    expect(names.length).toBeGreaterThan(0);
    const source = new DatabaseSync(join(stateDir, 'service.sqlite'));
    for (const name of names) {
      const older = `${name.split('-', 1)[0]}-${randomUUID()}`;
      await rename(join(assets, name), join(assets, older));
      source.prepare('UPDATE jobs SET folder = ? WHERE folder = ?').run(older, name);
    }
    source.close();
    const cluster = await makeCluster();
    const { database, storage } = cluster.options;
    await migrated(database, '--from', stateDir, '--storage', storage);
    const { s3 } = server();
    const results = async () => (await s3.list(cluster.bucket)).filter((key) => key.startsWith('assets/'));
    const moved = await results();
    expect(moved).not.toEqual([]);

    // As in a backup of the database that is older than its bucket.
    const schema = new URL(database).searchParams.get('schema') ?? '';
    const store = openPostgresStore({ url: server().database.url, schema });
    await store.run('UPDATE jobs SET folder = NULL');
    await store.close();
    const { clock } = await cluster.node();
    clock.advance(SWEPT_MS);
    // The open job makes a result of its own.
    await until(results, (keys) => !moved.some((key) => keys.includes(key)));
  });

  it('are moved back unchanged, and the rows differ only in the names of uploads', async () => {
    const { stateDir } = await makeAccount();
    const [before, files] = [rowsOf(stateDir), await filesIn(stateDir)];
    const cluster = await makeCluster();
    const { database, storage } = cluster.options;
    await migrated(database, '--from', stateDir, '--storage', storage);
    const back = makeFolder();
    const returned = await migrated(database, '--to', back, '--storage', storage);
    expect(returned.files).toBe(Object.keys(files).length);
    const nameless = ({ uploads, ...tables }: Record<string, unknown[]>) => ({
      ...tables,
      uploads: uploads?.map((row) => ({ ...Object(row), file: null })),
    });
    expect(nameless(rowsOf(back))).toEqual(nameless(before));
    expect(Object.values(await filesIn(back)).sort()).toEqual(Object.values(files).sort());
    const { service } = await startScene({ stateDir: back });
    expect(await service.keys()).toHaveLength(2);
  });

  it('stay when the same account is moved a second time, which is refused', async () => {
    const { stateDir } = await makeAccount();
    const cluster = await makeCluster();
    await into(cluster, stateDir);
    const objects = await server().s3.list(cluster.bucket);
    // As after `--undo`.
    const source = new DatabaseSync(join(stateDir, 'service.sqlite'));
    source.exec('DROP TABLE vloc_moved');
    source.exec(
      `PRAGMA user_version = ${Number(source.prepare('PRAGMA user_version').get()?.user_version) - 1e6}`,
    );
    source.close();
    expect(await into(cluster, stateDir)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('has an account'),
    });
    expect(await server().s3.list(cluster.bucket)).toEqual(objects);
  });

  it('are not moved into the bucket of another cluster, and the source stays usable', async () => {
    const { stateDir } = await makeAccount();
    const [taken, fresh] = [await makeCluster(), await makeCluster()];
    await (await taken.node()).service.close();
    const words = ['--from', stateDir, '--storage', taken.options.storage];
    const { code, stderr } = await migrate(fresh.options.database, ...words);
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining('belongs to a cluster with another database'),
    ]);
    expect(await (await startScene({ stateDir })).service.keys()).toHaveLength(2);
  });

  it('cannot be left behind: an account with a bucket is not moved without it', async () => {
    const { stateDir } = await makeAccount();
    const cluster = await makeCluster();
    await into(cluster, stateDir);
    const { code, stderr } = await migrate(cluster.options.database, '--to', makeFolder());
    expect([code, stderr]).toEqual([4, expect.stringContaining('Name its bucket with --storage')]);
  });
});
