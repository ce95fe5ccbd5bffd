/** Accounts to be moved by `vloc serve migrate`, and runs of that command. */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'vitest';
import { accountTables } from '../../../src/service/move/rows.ts';
import { type Reply, send, signHeaders } from '../../service/harness/caller.ts';
import {
  NEW_JOB,
  readySource,
  type Scene,
  startScene,
  TRANSLATION,
  untilJob,
} from '../../service/harness/scene.ts';
import { type Ended, runMain } from '../../support/run-main.ts';
import { S3_OWNER } from '../../support/s3.ts';

/** The address has a password, so it goes through the variable. */
export async function migrate(database: string, ...words: string[]): Promise<Ended> {
  return runMain(['serve', 'migrate', ...words, '--output', 'json'], {
    env: { VLOC_DATABASE: database, ...S3_OWNER },
  });
}

export async function migrated(database: string, ...words: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await migrate(database, ...words);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** Undoing in a database needs its address without the password, which PGPASSWORD has. */
export async function undo(place: string): Promise<Ended> {
  return runMain(['serve', 'migrate', '--undo', place, '--output', 'json']);
}

interface Account {
  readonly stateDir: string;
  readonly credentials: Scene['credentials'];
  readonly done: Reply['json'];
  readonly open: Reply['json'];
  /** With files as its result. */
  readonly separated: Reply['json'];
  readonly upload: string;
  /** Of a request that was answered. */
  readonly used: Record<string, string>;
}

/** An account with a bit of everything, whose service has ended: one job done, one held, an upload, a pending webhook. */
export async function makeAccount(database?: string): Promise<Account> {
  const scene = await startScene({ allowLoopback: true, ...(database === undefined ? {} : { database }) });
  const { caller, credentials, stateDir, engines, service } = scene;
  const source = await readySource(caller);
  const created = await caller.post(NEW_JOB, TRANSLATION, 'intent-done');
  const done = await untilJob(caller, created.json, 'succeeded');
  const hook = { source, callback_url: 'http://127.0.0.1:1/hook' };
  const separation = await caller.post('/v1/audio-separations', hook);
  const separated = await untilJob(caller, separation.json, 'succeeded');
  engines.hold();
  const open = await caller.post(NEW_JOB, { ...TRANSLATION, client_reference: 'kept' }, 'intent-open');
  const used = signHeaders(credentials, { method: 'GET', path: '/v1/credits', body: '', nowMs: Date.now() });
  expect((await send(`${service.url}/credits`, { headers: used })).status).toBe(200);
  await service.issueKey({ permissions: ['dubbing'], monthlyLimitCredits: 5 });
  await service.close();
  return { stateDir, credentials, done, separated, open: open.json, upload: source.upload_id, used };
}

/** All rows of a folder, table by table, with the mark that a move leaves. */
export function rowsOf(stateDir: string): Record<string, unknown[]> {
  const database = new DatabaseSync(join(stateDir, 'service.sqlite'));
  try {
    return Object.fromEntries(
      accountTables().map(({ name, key }) => [
        name,
        database.prepare(`SELECT * FROM ${name} ORDER BY ${key.join(', ')}`).all(),
      ]),
    );
  } finally {
    database.close();
  }
}
