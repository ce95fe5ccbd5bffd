/** Messages of the Model Context Protocol as lines. What is not a message is answered with an error of JSON-RPC, not dropped. */
import type { Readable, Writable } from 'node:stream';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server';
import { formatBytes } from '../../base/amounts.ts';
import { asObject, readMember } from '../../client/read/record.ts';

/** Longer than any call: a thousand paths have 0.3 MB. */
const LONGEST_LINE_BYTES = 10 * 1024 ** 2;

/** The only version of the protocol that has batches. */
const VERSION_WITH_BATCHES = '2025-03-26';

// Source: JSON-RPC 2.0, section 5.1.
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

type Answer = JSONRPCMessage | ReturnType<typeof refusalOf>;

/** Answers to the requests of one line, which are written together when all are there. */
interface Batch {
  readonly waiting: Set<unknown>;
  readonly answers: Answer[];
}

/** Makes the transport of a server; both streams stay open when it is closed. */
export function createLineTransport(stdin: Readable, stdout: Writable): Transport {
  const batches = new Set<Batch>();
  let version: string | null = null;
  const write = (answer: Answer | readonly Answer[]) =>
    new Promise<void>((resolve, reject) => {
      stdout.write(`${JSON.stringify(answer)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  // A client that is gone does not miss its answer.
  const reply = (answer: Answer | readonly Answer[]) => void write(answer).catch(() => undefined);
  const refuse = (code: number, message: string) => reply(refusalOf(null, code, message));

  /** Takes a request out of its batch. @param answer null if there is none, because it was cancelled */
  async function settle(id: unknown, answer: JSONRPCMessage | null): Promise<void> {
    const batch = [...batches].find(({ waiting }) => waiting.has(id));
    if (batch === undefined) return answer === null ? undefined : write(answer);
    batch.waiting.delete(id);
    if (answer !== null) batch.answers.push(answer);
    if (batch.waiting.size > 0) return;
    batches.delete(batch);
    if (batch.answers.length > 0) await write(batch.answers);
  }

  function deliver(message: JSONRPCMessage): void {
    transport.onmessage?.(message);
    if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled')
      void settle(message.params?.requestId, null).catch(() => undefined);
  }

  function receiveBatch(values: readonly unknown[]): void {
    const read = values.map(readMessage);
    const messages = read.flatMap(({ message }) => (message === undefined ? [] : [message]));
    const answers = read.flatMap(({ refusal }) => (refusal === undefined ? [] : [refusal]));
    const waiting = new Set<unknown>(messages.filter(isJSONRPCRequest).map(({ id }) => id));
    if (waiting.size > 0) batches.add({ waiting, answers });
    else if (answers.length > 0) reply(answers);
    for (const message of messages) deliver(message);
  }

  function receive(line: string): void {
    if (line.trim() === '') return;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      refuse(PARSE_ERROR, 'the line is not JSON');
      return;
    }
    if (!Array.isArray(value)) {
      const { message, refusal } = readMessage(value);
      if (message !== undefined) deliver(message);
      else if (refusal !== undefined) reply(refusal);
    } else if (version === VERSION_WITH_BATCHES && value.length > 0) {
      receiveBatch(value);
    } else {
      refuse(INVALID_REQUEST, `a batch needs protocol version ${VERSION_WITH_BATCHES} and a message`);
    }
  }

  const lines = splitLines(LONGEST_LINE_BYTES, (line) => {
    if (line !== null) receive(line);
    else refuse(INVALID_REQUEST, `the message is longer than ${formatBytes(LONGEST_LINE_BYTES)}`);
  });

  const transport: Transport = {
    async start() {
      stdin.on('data', lines).once('end', transport.close).once('close', transport.close);
    },
    send: (message) => settle('method' in message ? undefined : message.id, message),
    async close() {
      stdin.off('data', lines).off('end', transport.close).off('close', transport.close);
      transport.onclose?.();
    },
    setProtocolVersion(agreed) {
      version = agreed;
    },
  };
  return transport;
}

/** Splits bytes into lines. @param onLine gets null for a line that is longer than the limit */
function splitLines(limitBytes: number, onLine: (line: string | null) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let length = 0;
  const add = (part: Buffer) => {
    length += part.length;
    if (length > limitBytes) parts = [];
    else parts.push(part);
  };
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
      add(chunk.subarray(start, end));
      const line = length > limitBytes ? null : Buffer.concat(parts).toString('utf8');
      parts = [];
      length = 0;
      start = end + 1;
      onLine(line);
    }
    add(chunk.subarray(start));
  };
}

/** A message, or the answer to what is none; neither for an invalid response, since responses are not answered. */
function readMessage(value: unknown): { message?: JSONRPCMessage; refusal?: ReturnType<typeof refusalOf> } {
  try {
    return { message: parseJSONRPCMessage(value) };
  } catch {
    const object = asObject(value) ?? {};
    if ('result' in object || 'error' in object) return {};
    const id = readMember(object, 'id');
    const known = typeof id === 'string' || typeof id === 'number' ? id : null;
    return { refusal: refusalOf(known, INVALID_REQUEST, 'expected a message of JSON-RPC 2.0') };
  }
}

function refusalOf(id: string | number | null, code: number, message: string) {
  return { jsonrpc: '2.0', id, error: { code, message } } as const;
}
