import { expect, test } from 'vitest';
import { createHttp } from '../../src/base/http-client.ts';

const REQUEST = { origin: 'http://service.example', target: '/', method: 'GET', headers: {}, body: null };

/** A client whose connection never opens; `begun` resolves with the signal that ends the attempt. */
function startConnecting() {
  const begun = Promise.withResolvers<AbortSignal>();
  const http = createHttp({
    connect: (_url, signal) => {
      begun.resolve(signal);
      return new Promise(() => {});
    },
  });
  return { http, begun: begun.promise };
}

test('a request that is aborted while its connection opens ends with the reason of the signal', async () => {
  const { http, begun } = startConnecting();
  const controller = new AbortController();
  const sent = http.send({ ...REQUEST, signal: controller.signal });
  await begun;
  const reason = new Error('the user pressed Ctrl-C');
  controller.abort(reason);
  await expect(sent).rejects.toBe(reason);
});

test('closing the client ends requests and the opening of their connections', async () => {
  const { http, begun } = startConnecting();
  const sent = http.send(REQUEST);
  const signal = await begun;
  const [ended] = await Promise.allSettled([sent, http.close()]);
  expect(ended).toMatchObject({ status: 'rejected', reason: { code: 'UND_ERR_DESTROYED' } });
  expect(signal.aborted).toBe(true);
});
