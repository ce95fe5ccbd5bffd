import { expect, it } from 'vitest';
import { readEvent } from '../../../src/client/webhooks/verify-webhook.ts';

const NOTHING = {
  type: null,
  created_at: null,
  job: { id: null, kind: null, status: null, client_reference: null, detail_url: null },
};

it('fields that a body omits are read from the type of the event', () => {
  const body = '{"type":"auto_localization.succeeded","data":{"id":"loc_1"}}';
  expect(readEvent(body).job).toMatchObject({ id: 'loc_1', kind: 'auto_localization', status: 'succeeded' });
});

it.each(['', 'no JSON', '[]', 'null', '{"type":7,"data":[1]}', '{"data":{"id":{}}}'])(
  'nothing is found in %j, without an exception',
  (body) => {
    expect(readEvent(Buffer.from(body))).toEqual(NOTHING);
  },
);

it('a kind or status that the interface does not have is not accepted as one', () => {
  const { job } = readEvent('{"type":"constructor.exploded","data":{"object":"__proto__","status":"maybe"}}');
  expect([job.kind, job.status]).toEqual([null, null]);
});
