import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMovableClock } from '../../../../src/service/control/clock.ts';
import { migrateSchema } from '../../../../src/service/store/schema.ts';
import { openSqliteFile } from '../../../../src/service/store/sqlite-file.ts';
import { makeFolder } from '../../../support/make-folder.ts';
import { DUBBING, startScene, until, untilJob } from '../../harness/scene.ts';
import { changeStore } from '../../harness/stores.ts';
import { createJob, OPEN, only, readRows, startReceiver, untilAttempted } from './receiver.ts';

test('an event survives the service: the next one delivers it under the same id', async () => {
  const receiver = await startReceiver(503, 204);
  const stateDir = makeFolder();
  const first = await startScene({ stateDir, config: OPEN });
  await createJob(first, receiver.url);
  await untilAttempted(first, 1);
  await first.service.close();
  const clock = createMovableClock();
  clock.advance(6000);
  await startScene({ stateDir, clock, config: OPEN });
  expect((await untilAttempted({ stateDir }, 2)).status).toBe('delivered');
  const ids = receiver.deliveries.map(({ headers }) => headers['x-service-webhook-id']);
  expect(ids).toEqual([ids[0], ids[0]]);
});

test('an event that a process was sending when it died is sent again by another', async () => {
  const receiver = await startReceiver();
  const stateDir = makeFolder();
  const idle = await startScene({ stateDir, config: { ...OPEN, webhookSlots: 0 } });
  await untilJob(idle.caller, await createJob(idle, receiver.url), 'succeeded');
  changeStore(stateDir, `UPDATE deliveries SET attempts = 1, lease_owner = 'died', lease_until = 0`);
  await startScene({ stateDir, config: OPEN });
  // The attempt during which the process died does not count: a crash must not use up the attempts of an event.
  expect((await untilAttempted({ stateDir }, 1)).status).toBe('delivered');
  only(receiver);
});

test('of waiting events, the one that was due first is sent first, however old it is', async () => {
  const receiver = await startReceiver();
  const stateDir = makeFolder();
  const idle = await startScene({ stateDir, config: { ...OPEN, webhookSlots: 0 } });
  const older = await createJob(idle, receiver.url);
  await untilJob(idle.caller, older, 'succeeded');
  idle.clock.advance(1000);
  const newer = await createJob(idle, receiver.url);
  await untilJob(idle.caller, newer, 'succeeded');
  changeStore(stateDir, `UPDATE deliveries SET run_after = CASE job_id WHEN '${older.id}' THEN 2 ELSE 1 END`);
  await startScene({ stateDir, config: { ...OPEN, webhookSlots: 1 } });
  await until(() => receiver.deliveries.length === 2);
  expect(receiver.deliveries.map(({ body }) => JSON.parse(body).data.id)).toEqual([newer.id, older.id]);
});

test('a service that closes during an attempt does not count it', async () => {
  const receiver = await startReceiver(0, 204);
  const stateDir = makeFolder();
  const first = await startScene({ stateDir, config: OPEN });
  await createJob(first, receiver.url);
  await until(() => receiver.deliveries.length === 1);
  await first.service.close();
  expect(readRows(stateDir)).toMatchObject([{ status: 'pending', attempts: 0, lease_owner: null }]);
  await startScene({ stateDir, config: OPEN });
  expect((await untilAttempted({ stateDir }, 1)).status).toBe('delivered');
});

test('a job that was made with loopback allowed sends nothing once it is not', async () => {
  const receiver = await startReceiver();
  const stateDir = makeFolder();
  const open = await startScene({ stateDir, config: { ...OPEN, webhookSlots: 0 } });
  await untilJob(open.caller, await createJob(open, receiver.url), 'succeeded');
  const closed = await startScene({ stateDir });
  expect((await untilAttempted(closed, 1)).status).toBe('pending');
  expect(receiver.deliveries).toEqual([]);
});

test('a state folder from before webhooks existed is upgraded', async () => {
  const { caller, stateDir, service } = await startScene();
  await untilJob(caller, (await caller.post('/v1/dubbings', DUBBING)).json, 'succeeded');
  await service.close();
  const store = openSqliteFile(join(stateDir, 'service.sqlite'), { synchronous: 'FULL', advice: '' });
  store.script(
    `DROP INDEX jobs_waiting; DROP INDEX jobs_leased; DROP INDEX uploads_waiting; DROP INDEX uploads_leased;
     CREATE INDEX uploads_open ON uploads (created_at) WHERE status = 'validating'`,
  );
  store.script(
    `DROP TABLE monthly_use; DROP INDEX uploads_by_age; DROP INDEX jobs_ended; CREATE INDEX bills_by_month ON bills (key_id, month);
     CREATE INDEX jobs_by_age ON jobs (created_at); DROP TABLE deliveries; DROP TABLE tasks; DROP TABLE turns; DROP TABLE nodes; ALTER TABLE jobs DROP COLUMN needs; ALTER TABLE jobs DROP COLUMN crashes; ALTER TABLE uploads DROP COLUMN crashes; ALTER TABLE jobs DROP COLUMN deadline_at; PRAGMA user_version = 1`,
  );
  migrateSchema(store);
  expect(store.get('SELECT count(*) AS jobs FROM jobs')).toEqual({ jobs: 1 });
  expect(store.all('SELECT id FROM deliveries')).toEqual([]);
  store.close();
});
