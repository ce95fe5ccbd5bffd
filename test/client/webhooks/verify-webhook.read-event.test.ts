import { expect, it } from 'vitest';
import { readEvent } from '../../../src/client/webhooks/verify-webhook.ts';

const NOTHING = {
  type: null,
  created_at: null,
  job: { id: null, kind: null, status: null, client_reference: null, detail_url: null },
};

it('reads what a body leaves out from the type of the event', () => {
  const body = '{"type":"auto_localization.succeeded","data":{"id":"loc_1"}}';
  expect(readEvent(body).job).toMatchObject({ id: 'loc_1', kind: 'auto_localization', status: 'succeeded' });
});

it.each(['', 'no JSON', '[]', 'null', '{"type":7,"data":[1]}', '{"data":{"id":{}}}'])(
  'finds nothing in %j, and does not throw',
  (body) => {
    expect(readEvent(Buffer.from(body))).toEqual(NOTHING);
  },
);

it('does not take for a kind or a status what the interface does not know', () => {
  const { job } = readEvent('{"type":"constructor.exploded","data":{"object":"__proto__","status":"maybe"}}');
  expect([job.kind, job.status]).toEqual([null, null]);
});
