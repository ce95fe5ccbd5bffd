import { readdir } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, test } from 'vitest';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import type { Reply } from '../harness/caller.ts';
import { type Scene, startScene, until, untilJob } from '../harness/scene.ts';
import { videoOf } from '../harness/small-engines.ts';
import { type Outside, startPlain, startSecure } from '../outgoing/outside.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n\n2\n00:00:01,500 --> 00:00:02,500\nworld\n\n';

const serve = (bytes: Buffer | string): Promise<Outside> =>
  startSecure((_request, response) => response.end(bytes));

const videoAt = ({ origin }: Pick<Outside, 'origin'>) => ({
  source: { type: 'url', url: `${origin}/a.mp4?token=abc` },
});
const subtitleAt = ({ origin }: Outside) => ({
  subtitle: { type: 'url', url: `${origin}/a.srt` },
  target_language: 'es',
});

/** No credits are held any more, and the account is what the ledger says. */
async function expectBalance({ caller }: Scene, balance: number): Promise<void> {
  const { json } = await caller.get('/v1/credits');
  expect(json).toMatchObject({ balance_credits: balance, reserved_credits: 0, available_credits: balance });
}

test('subtitles at an address are read before the job is created, so a small account can pay for them', async () => {
  const outside = await serve(SRT);
  const scene = await startScene({ allowLoopback: true, config: { openingCredits: 3 } });
  const translation = await scene.caller.post('/v1/subtitle-translations', subtitleAt(outside));
  expect(translation.json.billing).toMatchObject({ quantity: 2, reserved_credits: 2 });
  expect(translation.json.input.subtitle).toEqual({ type: 'url', url: `${outside.origin}/a.srt` });
  const translated = await untilJob(scene.caller, translation.json, 'succeeded', 'failed');
  expect(translated.billing).toMatchObject({ status: 'settled', quantity: 2, charged_credits: 2 });
  expect(translated.result.lines.map((line: { text: string }) => line.text)).toEqual(['HELLO', 'WORLD']);
  const dub = await scene.caller.post('/v1/dubbings', subtitleAt(outside));
  const dubbed = await untilJob(scene.caller, dub.json, 'succeeded', 'failed');
  expect(dubbed.billing).toMatchObject({ status: 'settled', quantity: 1, charged_credits: 1 });
  await expectBalance(scene, 0);
  expect(outside.requests).toHaveLength(2);
});

/** Asks for a translation while its server is silent, until the service gives up on it. */
async function createUnanswered(scene: Scene, outside: Outside): Promise<Reply> {
  const created = scene.caller.post('/v1/subtitle-translations', subtitleAt(outside));
  await until(() => outside.requests.length > 0);
  // In steps, in which what the server has sent arrives.
  for (let step = 0; step < 500; step += 1) {
    scene.clock.advance(10);
    await setImmediate();
  }
  return created;
}

test.each([
  ['fails for a moment', (response: ServerResponse) => response.writeHead(503).end()],
  ['drops the connection', (response: ServerResponse) => response.destroy()],
])(
  'subtitles whose server %s are reserved for a hundredth of the largest size, and fetched by the job',
  async (_name, fail) => {
    let isBusy = true;
    const outside = await startSecure((_request, response) => {
      if (isBusy) fail(response);
      else response.end(SRT);
    });
    const scene = await startScene({ allowLoopback: true });
    scene.engines.hold();
    const { json } = await scene.caller.post('/v1/subtitle-translations', subtitleAt(outside));
    expect(json.billing.reserved_credits).toBe(100);
    const dub = await scene.caller.post('/v1/dubbings', subtitleAt(outside));
    expect(dub.json.billing.reserved_credits).toBe(105);
    isBusy = false;
    scene.engines.letGo();
    expect(await untilEnded(scene, json.detail_url)).toMatchObject({
      status: 'succeeded',
      billing: { quantity: 2, charged_credits: 2 },
    });
    await untilEnded(scene, dub.json.detail_url);
    await expectBalance(scene, 99_997);
  },
);

test('subtitles whose server is silent for five seconds are reserved for a hundredth of the largest size', async () => {
  const outside = await startSecure(() => undefined);
  const scene = await startScene({ allowLoopback: true, config: { workers: 0 } });
  const { json } = await createUnanswered(scene, outside);
  expect(json.billing.reserved_credits).toBe(100);
});

test('subtitles that arrive too slowly are reserved for what their stated length can hold', async () => {
  const outside = await startSecure((_request, response) => {
    response.writeHead(200, { 'Content-Length': '7000' });
    response.write(SRT);
  });
  const scene = await startScene({ allowLoopback: true, config: { workers: 0 } });
  const { json } = await createUnanswered(scene, outside);
  expect(json.billing.reserved_credits).toBe(200);
});

const LONG = Array.from({ length: 300 }, (_, at) => {
  const time = `00:0${Math.floor(at / 60)}:${String(at % 60).padStart(2, '0')}`;
  return `${at + 1}\n${time},000 --> ${time},500\nhello\n\n`;
}).join('');

/** A service whose job on subtitles of 300 lines was created while their server was busy. */
async function createForLong(openingCredits: number): Promise<{ scene: Scene; job: Reply['json'] }> {
  let isBusy = true;
  const outside = await startSecure((_request, response) => {
    if (isBusy) response.writeHead(503).end();
    else response.end(LONG);
    isBusy = false;
  });
  const scene = await startScene({ allowLoopback: true, config: { openingCredits } });
  const { json } = await scene.caller.post('/v1/subtitle-translations', subtitleAt(outside));
  expect(json.billing.reserved_credits).toBe(100);
  return { scene, job: await untilEnded(scene, json.detail_url) };
}

test('a job whose source is larger than its reservation reserves the rest before its work', async () => {
  const { scene, job } = await createForLong(300);
  expect(job).toMatchObject({
    status: 'succeeded',
    billing: { status: 'settled', quantity: 300, reserved_credits: 300, charged_credits: 300 },
  });
  await expectBalance(scene, 0);
});

test('a job whose source is larger than the account can pay fails before its work, and says what it needs', async () => {
  const { scene, job } = await createForLong(250);
  expect(job).toMatchObject({ status: 'failed', error: { code: 'SOURCE_TOO_LARGE', retryable: false } });
  expect(job.error.message).toContain('needs 300 credits, 250 are available');
  expect(scene.engines.begun).toHaveLength(0);
  await expectBalance(scene, 250);
});

describe('an address that certainly leads to no subtitles is refused before anything is reserved, because it', () => {
  const cases: [string, (response: ServerResponse) => void][] = [
    ['redirects in a circle', (response) => response.writeHead(302, { Location: '/again' }).end()],
    ['has an empty file', (response) => response.end()],
    ['does not speak HTTP', (response) => response.socket?.end('hello\r\n\r\n')],
  ];
  it.each(cases)('%s', async (_name, answer) => {
    const outside = await startSecure((_request, response) => answer(response));
    const scene = await startScene({ allowLoopback: true });
    for (const path of ['/v1/subtitle-translations', '/v1/dubbings']) {
      const { status, json } = await scene.caller.post(path, subtitleAt(outside));
      expect([status, json.code]).toEqual([422, 'INPUT_NOT_USABLE']);
    }
    await expectBalance(scene, 100_000);
  });
});

test('a video at an address that cannot be exported fails permanently before any work, and nothing is charged', async () => {
  const outside = await serve(videoOf(10));
  const scene = await startScene({ allowLoopback: true });
  scene.engines.refuseExport(new JobFailure('MEDIA_UNSUPPORTED', 'too large; choose the resolution 1080p'));
  const asked = { ...videoAt(outside), target_language: 'es', subtitle_output: 'burned' };
  const created = await scene.caller.post('/v1/auto-localizations', asked);
  expect(created.status).toBe(202);
  const job = await untilJob(scene.caller, created.json, 'failed', 'succeeded');
  expect(job.error).toMatchObject({ code: 'MEDIA_UNSUPPORTED', retryable: false });
  expect(scene.engines.begun).toHaveLength(0);
  await expectBalance(scene, 100_000);
});

test.each([
  ['no video', 'MEDIA_CORRUPT'],
  [videoOf(900.001), 'DURATION_EXCEEDED'],
])('the file at the address is inspected like an upload: %s', async (bytes, code) => {
  const outside = await serve(bytes);
  const scene = await startScene({ allowLoopback: true });
  const { json } = await scene.caller.post('/v1/audio-separations', videoAt(outside));
  const job = await untilJob(scene.caller, json, 'succeeded', 'failed');
  expect(job.error).toMatchObject({ code, retryable: false });
  expect(job.billing).toMatchObject({ status: 'released', charged_credits: 0 });
  expect(outside.requests).toHaveLength(1);
  await expectBalance(scene, 100_000);
});

test('a source that is not a subtitle is refused before anything is reserved', async () => {
  const outside = await serve('not a subtitle');
  const scene = await startScene({ allowLoopback: true });
  const { status, json } = await scene.caller.post('/v1/dubbings', subtitleAt(outside));
  expect([status, json.code]).toEqual([422, 'SUBTITLE_VALIDATION_FAILED']);
  await expectBalance(scene, 100_000);
});

/** When the next attempt is due, in ms since 1970, if no attempt is being made; else 0. */
function nextAttempt({ stateDir }: Scene): number {
  const store = new DatabaseSync(join(stateDir, 'service.sqlite'), { readOnly: true, timeout: 5000 });
  const row = store.prepare('SELECT max(run_after) AS due, count(lease_owner) AS leased FROM jobs').get();
  store.close();
  return row?.leased === 0 ? Number(row.due) : 0;
}

/** Lets the clock pass the pauses between attempts until the job has ended, with time for each attempt on a busy machine. */
const untilEnded = (scene: Scene, url: string) =>
  until(
    async () => {
      scene.clock.advance(Math.max(100, nextAttempt(scene) - scene.clock.now()));
      return (await scene.caller.get(url)).json;
    },
    ({ status }) => status === 'succeeded' || status === 'failed',
  );

test('a busy source is tried again, and none of it remains', async () => {
  let busy = 2;
  const outside = await startSecure((_request, response) => {
    if (busy > 0) response.writeHead(503).end();
    else response.end(videoOf(61));
    busy -= 1;
  });
  const scene = await startScene({ allowLoopback: true });
  const { json } = await scene.caller.post('/v1/audio-separations', videoAt(outside));
  const job = await untilEnded(scene, json.detail_url);
  expect(job).toMatchObject({ status: 'succeeded', billing: { quantity: 2, charged_credits: 2 } });
  expect(outside.requests).toHaveLength(3);
  await until(async () => (await readdir(join(scene.stateDir, 'work'))).length === 0);
});

test('a source that remains unreachable fails the job with its code, after three attempts', async () => {
  const outside = await startSecure((_request, response) => response.writeHead(503).end());
  const scene = await startScene({ allowLoopback: true });
  const { json } = await scene.caller.post('/v1/audio-separations', videoAt(outside));
  const job = await untilEnded(scene, json.detail_url);
  expect(job.error).toMatchObject({ code: 'SOURCE_UNREACHABLE', retryable: true });
  expect(job.error.message).toContain('503');
  expect(outside.requests).toHaveLength(3);
  await expectBalance(scene, 100_000);
});

test('a job that another process takes over fetches its source again', async () => {
  const outside = await serve(videoOf(30));
  const first = await startScene({ allowLoopback: true });
  first.engines.hold();
  const { json } = await first.caller.post('/v1/audio-separations', videoAt(outside));
  await until(() => first.engines.begun.length === 1);
  await first.service.close();
  const second = await startScene({ stateDir: first.stateDir, allowLoopback: true });
  const job = await untilJob(second.caller, json, 'succeeded', 'failed');
  expect(job.billing).toMatchObject({ status: 'settled', charged_credits: 1 });
  expect(outside.requests).toHaveLength(2);
});

test('with loopback allowed, sources and callbacks of this machine may be plain http', async () => {
  const outside = await startPlain((request, response) => {
    if (request.method === 'GET') response.end(SRT);
    else response.writeHead(204).end();
  });
  const scene = await startScene({ allowLoopback: true });
  const body = { ...subtitleAt(outside), callback_url: `${outside.origin}/hook` };
  const { status, json } = await scene.caller.post('/v1/dubbings', body);
  expect(status).toBe(202);
  await untilJob(scene.caller, json, 'succeeded');
  await until(() => outside.requests.length === 2);
  expect(outside.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /a.srt', 'POST /hook']);
});
