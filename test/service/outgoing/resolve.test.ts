import { expect, test } from 'vitest';
import { TargetBlocked, TargetUnreachable } from '../../../src/service/outgoing/failures.ts';
import { resolveHost } from '../../../src/service/outgoing/resolve.ts';
import { networkWith } from './outside.ts';
import corpus from './ssrf-corpus.json' with { type: 'json' };

const { signal } = new AbortController();
const resolveWith = (answers: string[], allowLoopback = false) =>
  resolveHost('a.example', { ...networkWith([answers], allowLoopback), signal });

test.each(corpus.deny_ip)('a name that leads to %s is refused', async (address) => {
  await expect(resolveWith([address])).rejects.toThrow(TargetBlocked);
});

test('one bad address among good ones denies the name', async () => {
  const mixed = corpus.dns_cases.find(({ name }) => name === 'mixed A');
  await expect(resolveWith(mixed?.answers?.[0] ?? [])).rejects.toThrow(TargetBlocked);
  await expect(resolveWith(['10.0.0.1', '93.184.216.34'])).rejects.toThrow(TargetBlocked);
});

test('all good addresses of a name are given, in order', async () => {
  expect(await resolveWith(corpus.allow_ip)).toEqual(corpus.allow_ip);
});

test('an address is checked without a look-up', async () => {
  const network = networkWith([['8.8.8.8']], false);
  await expect(resolveHost('127.0.0.1', { ...network, signal })).rejects.toThrow(TargetBlocked);
  expect(await resolveHost('1.1.1.1', { ...network, signal })).toEqual(['1.1.1.1']);
  expect(network.asked).toEqual([]);
});

test('with loopback allowed, private networks stay closed', async () => {
  expect(await resolveWith(['127.0.0.1', '::1'], true)).toHaveLength(2);
  await expect(resolveWith(['127.0.0.1', '10.0.0.1'], true)).rejects.toThrow(TargetBlocked);
  await expect(resolveWith(['169.254.169.254'], true)).rejects.toThrow(TargetBlocked);
});

test.each(['localhost', 'media.localhost'])('%s leads to this machine or nowhere', async (host) => {
  const resolve = (answer: string) => resolveHost(host, { ...networkWith([[answer]]), signal });
  expect(await resolve('127.0.0.1')).toEqual(['127.0.0.1']);
  await expect(resolve('93.184.216.34')).rejects.toThrow(TargetBlocked);
  await expect(resolve('10.0.0.1')).rejects.toThrow(TargetBlocked);
});

test('a name that is unknown or has no address is unreachable, in words without the name server', async () => {
  await expect(resolveHost('a.example', { ...networkWith(), signal })).rejects.toThrow(
    'its name is not known',
  );
  await expect(resolveWith([])).rejects.toThrow(TargetUnreachable);
});

test('a look-up that hangs is not waited for', async () => {
  const controller = new AbortController();
  const resolver = () => new Promise<string[]>(() => {});
  const waiting = resolveHost('a.example', {
    policy: { allowLoopback: false },
    resolver,
    signal: controller.signal,
  });
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});
