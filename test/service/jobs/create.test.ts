import { expect, test } from 'vitest';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { readySource, startScene, untilJob } from '../harness/scene.ts';

const line = (index: number, text = 'hello') => ({ index, start_ms: index, end_ms: index + 1, text });
const linesOf = (count: number) => Array.from({ length: count }, (_, at) => line(at + 1));
const translation = (count: number) => ({
  subtitle: { type: 'lines', lines: linesOf(count) },
  source_language: 'en',
  target_language: 'es',
});

test('the answer shows neither the callback address nor the query of a source', async () => {
  const { caller } = await startScene({ config: { workers: 0 } });
  const [source, callback_url] = [
    { type: 'url', url: 'https://a.example/?t=secret' },
    'https://b.example/?t=secret',
  ];
  const { status, bytes } = await caller.post('/v1/audio-separations', { source, callback_url });
  expect(status).toBe(202);
  expect(bytes.toString()).not.toMatch(/secret|b\.example/);
});

test.each([
  ['MEDIA_UNSUPPORTED', 'MEDIA_VALIDATION_FAILED', 'the picture is too large; choose the resolution 1080p'],
  ['LANGUAGE_NOT_SUPPORTED', 'LANGUAGE_NOT_SUPPORTED', 'no font here has the characters of Japanese'],
] as const)(
  'a video that cannot be exported (%s) is refused before anything is reserved',
  async (reason, code, detail) => {
    const { caller, engines } = await startScene();
    const asked = { source: await readySource(caller), target_language: 'es' };
    engines.refuseExport(new JobFailure(reason, detail));
    for (const encoded of [{ subtitle_output: 'burned' }, { resolution: '720p' }]) {
      const reply = await caller.post('/v1/auto-localizations', { ...asked, ...encoded });
      expect([reply.status, reply.json.code, reply.json.detail]).toEqual([422, code, detail]);
    }
    expect((await caller.get('/v1/credits')).json.reserved_credits).toBe(0);
    // Its picture is copied, which always fits.
    expect((await caller.post('/v1/auto-localizations', asked)).status).toBe(202);
  },
);

test('prices are the operator’s, down to the thousandth', async () => {
  const prices = {
    audio_separation: 0.125,
    subtitle_recognition: 1,
    subtitle_translation: 0.001,
    dubbing: 1,
    auto_localization: 1,
  };
  const { caller } = await startScene({ config: { prices } });
  const { json } = await caller.post('/v1/subtitle-translations', translation(7));
  const job = await untilJob(caller, json, 'succeeded');
  expect(job.billing).toMatchObject({ reserved_credits: 0.007, charged_credits: 0.007 });
  expect((await caller.get('/v1/credits')).json.balance_credits).toBe(99_999.993);
});
