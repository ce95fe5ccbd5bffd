import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { Failure, verifyWebhook } from '../../../src/client/index.ts';
import { EVENT_ID, eventBody, sign } from './sign.ts';

const SECRET = 'whsec';
const now = () => Math.floor(Date.now() / 1000);

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof Failure) return error.facts.code;
    throw error;
  }
  return 'nothing was thrown';
}

it('returns the event of a genuine delivery by the clock of this machine', () => {
  const received = sign(eventBody('dub_1', 'failed'), { secret: SECRET, at: now() });
  expect(verifyWebhook(received, { secret: SECRET })).toEqual({
    id: EVENT_ID,
    layout: 'newline',
    type: 'dubbing.failed',
    created_at: '2026-11-20T18:04:05.000Z',
    job: {
      id: 'dub_1',
      kind: 'dubbing',
      status: 'failed',
      client_reference: 'léson 1',
      detail_url: '/v1/dubbings/dub_1',
    },
  });
});

it('throws for a forged delivery, so that a forgotten check accepts nothing', () => {
  const old = sign('{}', { secret: SECRET, at: now() - 302 });
  const genuine = sign('{}', { secret: SECRET, at: now() });
  expect(codeOf(() => verifyWebhook(old, { secret: SECRET }))).toBe('WEBHOOK_TIMESTAMP_INVALID');
  expect(codeOf(() => verifyWebhook(genuine, { secret: 'other' }))).toBe('WEBHOOK_SIGNATURE_INVALID');
  expect(codeOf(() => verifyWebhook({ body: '{}', headers: {} }, { secret: SECRET }))).toBe(
    'WEBHOOK_FORM_INVALID',
  );
});

it('accepts the raw body as text and as bytes of any kind', () => {
  const { body, headers } = sign(eventBody('dub_1', 'failed'), { secret: SECRET, at: now() });
  const bytes = Buffer.from(body);
  const whole = new ArrayBuffer(bytes.length);
  new Uint8Array(whole).set(bytes);
  for (const raw of [
    bytes.toString('utf8'),
    bytes,
    new Uint8Array(bytes),
    whole,
    runInNewContext('new Uint8Array(bytes)', { bytes }),
  ]) {
    expect(verifyWebhook({ body: raw, headers }, { secret: SECRET }).job.id).toBe('dub_1');
  }
});

it.each([
  ['an object', { id: 'evt_1' }],
  ['undefined', undefined],
  ['null', null],
  ['an array', []],
])('asks for the raw body instead of %s', (_name, body) => {
  const { headers } = sign('{}', { secret: SECRET, at: now() });
  const received = { body: body as unknown as string, headers }; // as a program in JavaScript may
  expect(() => verifyWebhook(received, { secret: SECRET })).toThrow(
    expect.objectContaining({
      code: 'WEBHOOK_BODY_NOT_RAW',
      advice: expect.stringContaining('Pass the raw body, before any JSON parser'),
    }),
  );
});

it.each([null, undefined, 'X-Service-Webhook-Id: evt_1', 5])(
  'asks for the headers instead of %j',
  (headers) => {
    const received = { body: '{}', headers: headers as unknown as Headers }; // as a program in JavaScript may
    expect(() => verifyWebhook(received, { secret: SECRET })).toThrow(
      expect.objectContaining({
        code: 'WEBHOOK_HEADERS_MISSING',
        advice: expect.stringContaining('request.headers'),
      }),
    );
  },
);

it('takes a header without a text for one that is missing', () => {
  const { body, headers } = sign('{}', { secret: SECRET, at: now() });
  for (const name of Object.keys(headers)) {
    for (const value of [null, undefined, 5, [], [null]]) {
      const lacking = { ...headers, [name]: value } as unknown as typeof headers; // as a gateway may pass them
      expect(codeOf(() => verifyWebhook({ body, headers: lacking }, { secret: SECRET }))).toBe(
        'WEBHOOK_FORM_INVALID',
      );
    }
  }
});

it('refuses settings that would allow forgery or replay', () => {
  const forged = sign('{}', { secret: '', at: now() });
  const unset = process.env.VLOC_NO_SUCH_VARIABLE as string; // as programs do with a variable that they need
  for (const secret of ['', unset]) {
    expect(codeOf(() => verifyWebhook(forged, { secret }))).toBe('WEBHOOK_SECRET_MISSING');
  }
  const old = sign('{}', { secret: SECRET, at: 1_000_000_000 });
  for (const toleranceSeconds of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
    expect(codeOf(() => verifyWebhook(old, { secret: SECRET, toleranceSeconds }))).toBe(
      'WEBHOOK_TOLERANCE_INVALID',
    );
  }
  expect(codeOf(() => verifyWebhook(old, { secret: SECRET, now: Number.NaN }))).toBe(
    'WEBHOOK_TOLERANCE_INVALID',
  );
  expect(codeOf(() => verifyWebhook(old, { secret: `${SECRET}\n` }))).toBe('WEBHOOK_SECRET_INVALID');
});
