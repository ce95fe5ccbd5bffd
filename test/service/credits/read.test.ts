import { expect, test } from 'vitest';
import { type Scene, startScene, untilJob } from '../harness/scene.ts';

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

test('a charge is posted at the end of its job, and pages of charges continue from the end of the last one', async () => {
  const { job: first, ...scene } = await startCharged();
  const second = await translate(scene);
  const { json: page } = await scene.caller.get('/v1/credit-transactions?limit=1');
  expect([page.data[0].job_id, page.has_more]).toEqual([second.id, true]);
  const { json: rest } = await scene.caller.get(
    `/v1/credit-transactions?cursor=${encodeURIComponent(page.next_cursor)}&limit=1`,
  );
  expect([rest.data[0].job_id, rest.has_more]).toEqual([first.id, false]);
  expect(rest.data[0].posted_at).toBe(first.finished_at);
  const { json: later } = await scene.caller.get(
    `/v1/credit-transactions?created_after=${encodeURIComponent(page.data[0].posted_at)}`,
  );
  expect(later.data[0].job_id).toBe(second.id);
});
