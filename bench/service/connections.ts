/**
 * Generates the load: prepared bytes over plain sockets, one request at a time on each. An HTTP client would need more
 * time to send a request than a bare server needs to answer it, so both servers would look equally fast.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Reply {
  readonly status: number;
  /** The lines of the head, starting with the status line. */
  readonly head: string;
  readonly body: Buffer;
  /** Time from the request to the end of its answer. */
  readonly ms: number;
}

export interface Round {
  readonly seconds: number;
  /** In the order of the requests. */
  readonly replies: readonly Reply[];
}

export interface Connections {
  /** Sends all requests. Each connection sends the next request after the answer to its previous one. */
  send(requests: readonly Buffer[]): Promise<Round>;
  close(): void;
}

/** Opens that many connections to a server on this machine. */
export async function openConnections(port: number, count: number): Promise<Connections> {
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      return socket;
    }),
  );
  return {
    async send(requests) {
      const replies: Reply[] = new Array(requests.length);
      let next = 0;
      const begin = performance.now();
      await Promise.all(
        sockets.map((socket) =>
          converse(socket, {
            take: () => (next < requests.length ? next++ : null),
            requestAt: (at) => requests[at] ?? Buffer.alloc(0),
            keep: (at, reply) => {
              replies[at] = reply;
            },
          }),
        ),
      );
      return { seconds: (performance.now() - begin) / 1000, replies };
    },
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

interface Turn {
  /** Returns the index of the next request, or null after the last one. */
  take(): number | null;
  requestAt(at: number): Buffer;
  keep(at: number, reply: Reply): void;
}

function converse(socket: Socket, turn: Turn): Promise<void> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    let sentAt = 0;
    let current: number | null = null;
    const sendNext = () => {
      current = turn.take();
      if (current === null) {
        socket.off('data', take).off('close', fail);
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(turn.requestAt(current));
    };
    const fail = () => reject(new Error('the server closed a connection in the middle of a round'));
    const take = (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const reply = readReply(received, sentAt);
      if (reply === null || current === null) return;
      received = Buffer.alloc(0);
      turn.keep(current, reply);
      sendNext();
    };
    socket.on('data', take).on('close', fail);
    sendNext();
  });
}

/** Returns null while the answer is incomplete. */
function readReply(bytes: Buffer, sentAt: number): Reply | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = bytes.toString('latin1', 0, end);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1]);
  const body = bytes.subarray(end + 4);
  if (Number.isNaN(length) || body.length > length) throw new Error(`an answer of unknown length:\n${head}`);
  if (body.length < length) return null;
  return { status: Number(head.slice(9, 12)), head, body, ms: performance.now() - sentAt };
}
