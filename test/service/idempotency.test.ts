import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/service/clock.ts';
import { openSqliteFile } from '../../src/service/store/sqlite-file.ts';
import { readySource, startScene, TRANSLATION } from './harness/scene.ts';

const WEEK_MS = 7 * 86_400_000;

test('two processes on one state folder share idempotency keys', async () => {
  const one = await startScene();
  const other = await startScene({ stateDir: one.stateDir });
  const replies = await Promise.all(
    [one.caller, other.caller].flatMap((caller) =>
      Array.from({ length: 10 }, () => caller.post('/v1/subtitle-translations', TRANSLATION, 'intent')),
    ),
  );
  expect(new Set(replies.map((reply) => reply.json.id)).size).toBe(1);
});

test('a key is forgotten with its record, on time, even without a sweep', async () => {
  let now = Date.now();
  // Timers run with the real clock, so no sweep follows from moving on.
  const clock = { now: () => now, schedule: systemClock.schedule };
  const { caller, stateDir } = await startScene({ clock, config: { workers: 0 } });
  const first = await caller.post('/v1/subtitle-translations', TRANSLATION, 'intent');
  const createdAt = Date.parse(first.json.created_at);
  now = createdAt + WEEK_MS - 1000;
  const replayed = await caller.post('/v1/subtitle-translations', TRANSLATION, 'intent');
  expect(replayed.json.id).toBe(first.json.id);

  now = createdAt + WEEK_MS + 1000;
  // The key is unused again: neither a conflict, nor a replay of a job that is no more.
  const other = { ...TRANSLATION, target_language: 'fr' };
  const second = await caller.post('/v1/subtitle-translations', other, 'intent');
  expect(second.status).toBe(202);
  expect(second.headers['idempotency-replayed']).toBe('false');
  expect(second.json.id).not.toBe(first.json.id);
  const again = await caller.post('/v1/subtitle-translations', other, 'intent');
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(again.json.id).toBe(second.json.id);
  const cancelled = await caller.delete(first.json.detail_url, 'cancel');
  expect(cancelled.status).toBe(404);
  const store = openSqliteFile(join(stateDir, 'service.sqlite'), { synchronous: 'FULL', advice: '' });
  expect(store.all('SELECT id FROM jobs')).toHaveLength(2);
  store.close();
});

test('a create is replayed although its upload has expired since', async () => {
  const { caller, clock } = await startScene();
  const source = await readySource(caller);
  clock.advance(86_400_000);
  const first = await caller.post('/v1/audio-separations', { source }, 'intent');
  expect(first.status).toBe(202);
  clock.advance(6 * 86_400_000 + 1000);
  expect((await caller.post('/v1/audio-separations', { source }, 'new')).status).toBe(422);
  const again = await caller.post('/v1/audio-separations', { source }, 'intent');
  expect(again.json.id).toBe(first.json.id);
});
