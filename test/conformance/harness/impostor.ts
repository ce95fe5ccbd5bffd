/** A server that is not a real service and answers as the test defines. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** Listens until the test ends. Returns the base URL. */
export async function startImpostor(answer: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    // An answer before the request is complete would break the sender's connection.
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
