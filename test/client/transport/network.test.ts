import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { failureOf, startHarness } from '../support/harness.ts';
import { hang } from '../support/scripted-server.ts';

const CREDITS = { method: 'GET', path: '/credits' } as const;

describe('a failing network', () => {
  const quick = { timeouts: { callMs: 20, connectMs: 500 } };

  test('that never answers is given up in time', async () => {
    const { client, events } = await startHarness({ ...quick, fallback: hang });
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts).toMatchObject({ category: 'temporary', code: 'ANSWER_TIMEOUT' });
    // Counted where they leave: on a busy machine the server may see one only after it was given up.
    expect(events.filter((event) => event.type === 'request')).toHaveLength(5);
  });

  test('that trickles the answer in byte by byte is given up in time', async () => {
    const { client } = await startHarness({
      ...quick,
      fallback: (_seen, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 5);
        response.on('close', () => clearInterval(timer));
      },
    });
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts.code).toBe('ANSWER_TIMEOUT');
  });

  test('ends in time at the deadline of the caller, whatever the service does', async () => {
    const { client, runtime } = await startHarness({ fallback: hang });
    const { facts } = await failureOf(client.send({ ...CREDITS, deadline: runtime.now() + 30 }));
    expect(facts.category).toBe('temporary');
  });

  test('that refuses connections is reported with the host and what to check', async () => {
    const { server, client } = await startHarness();
    await server.close();
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts).toMatchObject({ category: 'temporary', code: 'CONNECTION_REFUSED' });
    expect(facts.message).toContain('127.0.0.1');
    expect(facts.advice).toContain('base URL');
  });

  test('with a host that does not exist is reported', async () => {
    const { client } = await startHarness({ baseUrl: 'https://no-such-host.invalid/v1' });
    const { facts } = await failureOf(client.send(CREDITS));
    expect(['HOST_NOT_FOUND', 'NAME_LOOKUP_FAILED']).toContain(facts.code);
    expect(facts.message).toContain('no-such-host.invalid');
  });

  test('without TLS at the other end is a configuration error, and asked once', async () => {
    let connections = 0;
    const plain = createServer((socket) => {
      connections += 1;
      socket.on('error', () => {});
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    onTestFinished(async () => void plain.close());
    const { port } = plain.address() as AddressInfo; // a TCP server has one
    const { client } = await startHarness({ baseUrl: `https://127.0.0.1:${port}/v1` });
    const { facts } = await failureOf(client.send(CREDITS));
    expect(facts).toMatchObject({ category: 'configuration', code: 'TLS_PROTOCOL' });
    expect(connections).toBe(1);
  });

  test('with a caller who gives up ends with the reason of the signal', async () => {
    const controller = new AbortController();
    const reason = new Error('the user pressed Ctrl-C');
    const { client } = await startHarness({ fallback: () => controller.abort(reason) });
    await expect(client.send({ ...CREDITS, signal: controller.signal })).rejects.toBe(reason);
  });
});
