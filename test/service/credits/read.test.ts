import { expect, test } from 'vitest';
import { type Scene, startScene, untilJob } from '../harness/scene.ts';

const ID = /^[a-z]+_[0-9a-z]{26}$/;

async function translate({ caller }: Scene) {
  const { json } = await caller.post('/v1/subtitle-translations', {
    subtitle: {
      type: 'lines',
      lines: [1, 2].map((index) => ({ index, start_ms: index, end_ms: index + 1, text: 'hello' })),
    },
    source_language: 'en',
    target_language: 'es',
    client_reference: 'lesson-7',
  });
  return untilJob(caller, json, 'succeeded');
}

/** A scene with a finished translation of two lines. */
async function startCharged() {
  const scene = await startScene();
  return { ...scene, job: await translate(scene) };
}

test('a charge is a line with its job, its units and the time at which it was posted', async () => {
  const { caller, job } = await startCharged();
  const { status, json } = await caller.get('/v1/credit-transactions');
  expect([status, json.has_more]).toEqual([200, false]);
  expect(json.data).toEqual([
    {
      id: expect.stringMatching(ID),
      object: 'credit_transaction',
      amount: -job.billing.charged_credits,
      capability: 'subtitle_translation',
      job_id: job.id,
      client_reference: 'lesson-7',
      unit: 'line',
      quantity: 2,
      posted_at: job.finished_at,
    },
  ]);
  const { json: single } = await caller.get(
    `/v1/credit-transactions?created_after=${encodeURIComponent(job.created_at)}`,
  );
  expect(single.data).toEqual(json.data);
});

test('a key sees the lines of the capabilities that it still has', async () => {
  const { caller, service, credentials } = await startCharged();
  const count = async () => (await caller.get('/v1/credit-transactions')).json.data.length;
  await service.changeKey(credentials.key, { permissions: ['dubbing'] });
  expect(await count()).toBe(0);
  await service.changeKey(credentials.key, { permissions: ['dubbing', 'subtitle_translation'] });
  expect(await count()).toBe(1);
});

test('pages continue from the end of the last one, the newest line first', async () => {
  const { job: first, ...scene } = await startCharged();
  const second = await translate(scene);
  const { json: page } = await scene.caller.get('/v1/credit-transactions?limit=1');
  expect([page.data[0].job_id, page.has_more]).toEqual([second.id, true]);
  const { json: rest } = await scene.caller.get(
    `/v1/credit-transactions?cursor=${encodeURIComponent(page.next_cursor)}&limit=1`,
  );
  expect([rest.data[0].job_id, rest.has_more]).toEqual([first.id, false]);
});
