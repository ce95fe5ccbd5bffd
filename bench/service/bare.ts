/** The baseline: a `node:http` server that answers every request with the same bytes. */
import { createServer } from 'node:http';

/** One answer, recorded from the service. */
export interface CannedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

let answer: CannedAnswer = { status: 200, headers: {}, body: '' };

// The service keeps connections open for the same time, and its answers say so.
const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  const reply = () => response.writeHead(answer.status, answer.headers).end(answer.body);
  if (request.method === 'GET') reply();
  else request.resume().on('end', reply);
});

server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.send?.(address.port);
});
process.on('message', (given: CannedAnswer) => {
  answer = given;
  process.send?.('ready');
});
process.on('disconnect', () => {
  server.close();
  server.closeAllConnections();
});
