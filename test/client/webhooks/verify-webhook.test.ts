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

it('refuses settings that would allow forgery or replay', () => {
  const forged = sign('{}', { secret: '', at: now() });
  expect(codeOf(() => verifyWebhook(forged, { secret: '' }))).toBe('WEBHOOK_SECRET_MISSING');
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
