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
  'https://127.0.0.1/a.mp4',
  'https://u:p@a.example/',
  'https://a.example:8443/',
  'https://a.local/',
  'http://a.example/a.mp4',
  'ftp://a.example/a.mp4',
  'file:///etc/passwd',
])('the address %s is refused with what to do', async (url) => {
  const { caller } = await startScene();
  const reply = await caller.post('/v1/audio-separations', { source: { type: 'url', url } });
  expect([reply.status, reply.json.code]).toEqual([422, 'INPUT_NOT_USABLE']);
  expect(reply.json.detail).toContain('POST /uploads');
  const subtitle = { subtitle: { type: 'url', url }, target_language: 'es' };
  expect((await caller.post('/v1/dubbings', subtitle)).json.code).toBe('INPUT_NOT_USABLE');
});

test('a language without an engine is refused, with the available ones', async () => {
  const { caller } = await startScene();
  const reply = await caller.post('/v1/subtitle-translations', { ...translation(1), target_language: 'ja' });
  expect([reply.status, reply.json.code]).toEqual([422, 'LANGUAGE_NOT_SUPPORTED']);
  expect(reply.json.detail).toContain('Spanish');
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

test('of 100 concurrent creates 15 get a slot, and a slot becomes free when a job ends', async () => {
  const { caller, callerFor, service, engines } = await startScene();
  engines.hold();
  const other = callerFor(await service.issueKey());
  const replies = await Promise.all(
    Array.from({ length: 100 }, (_, at) =>
      (at % 2 === 0 ? caller : other).post('/v1/subtitle-translations', translation(1)),
    ),
  );
  const accepted = replies.filter((reply) => reply.status === 202);
  const refused = replies.filter((reply) => reply.json.code === 'CONCURRENCY_LIMIT_EXCEEDED');
  expect([accepted.length, refused.length]).toEqual([15, 85]);
  expect(refused[0]?.json.retryable).toBe(true);
  expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0);
  const mine = (await caller.get('/v1/subtitle-translations')).json.data[0];
  await caller.delete(mine.detail_url);
  expect((await caller.post('/v1/subtitle-translations', translation(1))).status).toBe(202);
  expect((await caller.post('/v1/subtitle-translations', translation(1))).status).toBe(429);
});

test('minutes are counted as started, characters by thousands, lines one by one', async () => {
  const { caller, engines } = await startScene();
  engines.hold();
  const reserved = async (path: string, body: Record<string, unknown>) => {
    const { json } = await caller.post(path, body);
    return json.billing.reserved_credits;
  };
  const minutes = async (seconds: number) =>
    reserved('/v1/audio-separations', { source: await readySource(caller, seconds) });
  expect(await minutes(0.5)).toBe(1);
  expect(await minutes(60)).toBe(1);
  expect(await minutes(60.001)).toBe(2);
  expect(await minutes(900)).toBe(15);
  const dub = (characters: number) =>
    reserved('/v1/dubbings', {
      subtitle: { type: 'lines', lines: [line(1, '😀'.repeat(characters))] },
      target_language: 'es',
    });
  expect(await dub(1000)).toBe(1);
  expect(await dub(1001)).toBe(2);
  expect(await reserved('/v1/subtitle-translations', translation(7))).toBe(7);
  const list = await caller.get('/v1/credit-transactions');
  expect(list.json.data).toEqual([]);
});

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
