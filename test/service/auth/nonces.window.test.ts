import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../protocol/arbitraries.ts';
import { send, signHeaders } from '../harness/caller.ts';
import { startScene } from '../harness/scene.ts';

const SKEW_SECONDS = 300;

/** Seconds that the caller's clock is ahead of the service's: at the edges of what is allowed, and anywhere. */
const ahead = fc.oneof(
  fc.constantFrom(-301, -300, -299, 0, 299, 300, 301),
  fc.integer({ min: -320, max: 320 }),
);
/** Milliseconds until the request is sent again: around the ends of both windows, and anywhere. */
const later = fc.oneof(
  fc.constantFrom(0, 1, 299_999, 300_000, 300_999, 599_999, 600_000, 600_001, 600_998, 600_999, 601_000),
  fc.integer({ min: 0, max: 700_000 }),
);
/** Where in a second the first request arrives: timestamps are whole seconds. */
const fraction = fc.oneof(fc.constantFrom(0, 1, 998, 999), fc.nat({ max: 999 }));

test('no timestamp with its nonce is accepted twice, whatever the caller’s clock and however late the second time', async () => {
  const { service, clock, credentials } = await startScene();
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(
      ahead,
      fraction,
      fc.array(later, { minLength: 1, maxLength: 3 }),
      async (seconds, part, waits) => {
        clock.advance((1000 - (clock.now() % 1000) + part) % 1000);
        const nowMs = clock.now() + seconds * 1000;
        const headers = signHeaders(credentials, { method: 'GET', path: '/v1/credits', body: '', nowMs });
        const ask = async () => (await send(`${service.url}/credits`, { headers })).status;
        const first = await ask();
        if (first === 200) accepted += 1;
        // The real clock runs on: a request signed at an edge may be past it when it arrives.
        if (Math.abs(seconds) < SKEW_SECONDS) expect(first).toBe(200);
        let times = first === 200 ? 1 : 0;
        for (const wait of waits) {
          clock.advance(wait);
          if ((await ask()) === 200) times += 1;
        }
        expect(times).toBeLessThanOrEqual(1);
      },
    ),
    { numRuns: runs(60, 5_000) },
  );
  expect(accepted).toBeGreaterThan(30);
});
