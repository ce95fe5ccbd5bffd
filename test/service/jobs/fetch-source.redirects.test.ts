import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { networkWith, startPlain, startSecure } from '../outgoing/outside.ts';
import { failureOf, fetchTo, makeTarget, serve } from './fetching.ts';

describe('redirects', () => {
  const redirectTo = (target: (path: string) => string | null) =>
    serve((response, request) => {
      const location = target(request.url ?? '');
      if (location === null) response.end('there');
      else response.writeHead(302, { Location: location }).end();
    });
  const countDown = (path: string) => {
    const left = Number(path.slice(1));
    return left === 0 ? null : `/${left - 1}`;
  };

  it('are followed five times, relative ones too', async () => {
    const outside = await redirectTo(countDown);
    const { path } = await makeTarget();
    await fetchTo(path, `${outside.origin}/5`);
    expect(await readFile(path, 'utf8')).toBe('there');
  });

  it('are not followed a sixth time', async () => {
    const outside = await redirectTo(countDown);
    expect(await failureOf(`${outside.origin}/6`)).toMatchObject({ code: 'SOURCE_UNREACHABLE' });
    expect(outside.requests).toHaveLength(6);
  });

  it.each([
    ['a private address', 'https://10.0.0.1/secret'],
    ['another port', 'https://example.com:8443/secret'],
    ['another scheme', 'file:///etc/secret'],
  ])('to %s are refused, without revealing where they lead', async (_name, target) => {
    const outside = await redirectTo(() => target);
    const network = networkWith([['1.1.1.1']]);
    const failure = await failureOf(outside.origin, { network });
    expect(failure).toMatchObject({ code: 'SOURCE_BLOCKED', message: expect.stringContaining('redirects') });
    expect(failure.message).not.toMatch(/secret|10\.0|8443|example/);
    expect([network.asked, network.dialled.length]).toEqual([[], 1]);
  });

  it('to a name that leads into a private network are refused', async () => {
    const outside = await redirectTo(() => 'https://inside.example/');
    const network = networkWith([['10.0.0.1']]);
    const failure = await failureOf(outside.origin, { network });
    expect(failure.code).toBe('SOURCE_BLOCKED');
    expect(failure.message).not.toContain('10.0.0.1');
    expect(network.dialled).toHaveLength(1);
  });

  it.each([
    ['http', startPlain],
    ['https', startSecure],
  ])('from outside to this machine are refused over %s, also with loopback allowed', async (_name, start) => {
    const inside = await start((_request, response) => response.end('inside'));
    const outside = await startSecure((_request, response) =>
      response.writeHead(302, { Location: inside.origin }).end(),
    );
    const network = {
      ...networkWith([['127.0.0.1']]),
      dial: () => connect({ host: '127.0.0.1', port: outside.port }),
    };
    const failure = await failureOf('https://media.example/a.mp4', { network });
    expect(failure).toMatchObject({ code: 'SOURCE_BLOCKED', message: expect.stringContaining('redirects') });
    expect(outside.requests).toHaveLength(1);
    expect(inside.connections()).toBe(0);
  });

  it('within this machine are refused unless loopback is allowed', async () => {
    const outside = await redirectTo((path) => (path === '/start' ? '/end' : null));
    const { path } = await makeTarget();
    await fetchTo(path, `${outside.origin}/start`);
    const closed = networkWith([], false);
    expect((await failureOf(`${outside.origin}/start`, { network: closed })).code).toBe('SOURCE_BLOCKED');
    expect(outside.requests).toHaveLength(2);
  });

  it('without a target are reported', async () => {
    const outside = await serve((response) => response.writeHead(301).end());
    expect((await failureOf(outside.origin)).message).toContain('without saying where');
  });
});
