import { describe, expect, test } from 'vitest';
import { failureOf, startHarness } from '../support/harness.ts';
import { problem } from '../support/scripted-server.ts';

const CREDITS = { method: 'GET', path: '/credits' } as const;

describe('a wrong clock', () => {
  const serverDate = (runtime: { now(): number }, aheadMs: number) => ({
    date: new Date(runtime.now() + aheadMs).toUTCString(),
  });

  test.each([-400_000, 86_400_000])('%i ms off is corrected once and remembered', async (ahead) => {
    const { server, client, runtime, events } = await startHarness();
    server.script.push(problem(401, 'AUTHENTICATION_FAILED', false, serverDate(runtime, ahead)));
    await client.send(CREDITS);
    await client.send(CREDITS);
    expect(server.seen).toHaveLength(3);
    const off = server.seen.map(
      (seen) => Number(seen.headers['x-service-timestamp']) * 1000 - runtime.now() - ahead,
    );
    expect(Math.abs(off[0] ?? 0)).toBeGreaterThan(300_000);
    expect(off.slice(1).every((ms) => Math.abs(ms) <= 2_000)).toBe(true);
    const skews = events.filter((event) => event.type === 'skew');
    expect(skews).toHaveLength(1);
    expect(Math.abs((skews[0]?.seconds ?? 0) + ahead / 1000)).toBeLessThanOrEqual(1);
  });

  test('is not reported if it is right, nor twice, nor because of an answer from a cache', async () => {
    const { server, client, runtime } = await startHarness();
    const refusal = (headers: Record<string, string>) =>
      problem(401, 'AUTHENTICATION_FAILED', false, headers);
    server.script.push(refusal(serverDate(runtime, 30_000)));
    await failureOf(client.send(CREDITS));
    expect(server.seen).toHaveLength(1);
    server.script.push(refusal({ ...serverDate(runtime, 400_000), age: '400' }));
    await failureOf(client.send(CREDITS));
    expect(server.seen).toHaveLength(2);
    server.script.push(refusal(serverDate(runtime, 400_000)), refusal(serverDate(runtime, 900_000)));
    await failureOf(client.send(CREDITS));
    expect(server.seen).toHaveLength(4);
  });
});
