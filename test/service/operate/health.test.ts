import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { send } from '../harness/caller.ts';
import { startScene } from '../harness/scene.ts';

test('a store that lost its tables is reported with 503, and the cause stays in the log', async () => {
  const { service, stateDir, clock, logged } = await startScene({ config: { workers: 0 } });
  const path = `${new URL(service.url).origin}/healthz`;
  expect((await send(path)).status).toBe(200);
  const other = new DatabaseSync(join(stateDir, 'service.sqlite'));
  other.exec('DROP TABLE secrets');
  other.close();
  // Within a second the answer of before is good enough: asking must not become writing.
  expect((await send(path)).status).toBe(200);
  clock.advance(1000);
  const failing = await send(path);
  expect([failing.status, failing.json]).toEqual([503, { status: 'failing', store: 'not writable' }]);
  expect(logged.find(({ message }) => message === 'the store cannot be written')?.error).toBeDefined();
  await rm(stateDir, { recursive: true, force: true });
});
