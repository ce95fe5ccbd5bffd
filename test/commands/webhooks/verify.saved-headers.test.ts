import { expect, it } from 'vitest';
import { parseSavedHeaders } from '../../../src/commands/webhooks/rules.ts';

it('reads what curl -v, proxies and logs save, including repeated headers', () => {
  const saved = [
    'POST /hook HTTP/1.1\r',
    'Host: example.com:443\r',
    '> X-Service-Webhook-Id:  evt_1 ',
    '< x-service-webhook-id: evt_2',
    'X-Empty:',
    '',
    '* Connection #0 to host left intact',
    '{"a": "no header"}',
  ];
  expect(parseSavedHeaders(saved.join('\n'))).toEqual([
    ['Host', 'example.com:443'],
    ['X-Service-Webhook-Id', 'evt_1'],
    ['x-service-webhook-id', 'evt_2'],
    ['X-Empty', ''],
  ]);
});
