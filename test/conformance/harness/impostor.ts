/** A server that is no service: it answers as it is told. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Listens until the test ends; gives the base address. */
export async function startImpostor(answer: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    // An answer before the request is whole would break the connection under its sender.
    request.resume().on('end', () => answer(request, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return `http://127.0.0.1:${port}/v1`;
}
