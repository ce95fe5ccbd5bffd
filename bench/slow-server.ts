/** A server with the interfaces of OpenAI and LibreTranslate that answers each request after the same time. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SlowServer {
  /** Of OpenAI's interface. That of LibreTranslate is without `/v1`. */
  readonly url: string;
  /** Milliseconds from the last request to its answer; timers are a little late. */
  lastMs(): number;
  close(): Promise<void>;
}

const WORD = { word: 'red', start: 0.5, end: 1 };
const ENGLISH = { code: 'en', name: 'English', targets: ['es'] };

/** @param sound what it speaks, a WAV file */
export async function openServer(milliseconds: number, sound: Buffer): Promise<SlowServer> {
  let last = 0;
  const answers: Readonly<Record<string, (body: Buffer) => unknown>> = {
    '/v1/audio/transcriptions': () => ({
      text: 'red',
      words: [WORD],
      segments: [{ text: 'red', start: 0.5, end: 1 }],
    }),
    '/v1/chat/completions': (body) => {
      const { cues } = JSON.parse(JSON.parse(body.toString()).messages[1].content);
      return { choices: [{ message: { content: JSON.stringify({ cues }) } }] };
    },
    '/v1/audio/speech': () => sound,
    '/languages': () => [ENGLISH, { code: 'es', name: 'Spanish', targets: [] }],
    '/translate': (body) => ({ translatedText: JSON.parse(body.toString()).q }),
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const begin = performance.now();
      setTimeout(() => {
        const answer = answers[request.url ?? '']?.(Buffer.concat(chunks));
        last = performance.now() - begin;
        send(response, answer);
      }, milliseconds);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port, not on a path
  return {
    url: `http://127.0.0.1:${port}/v1`,
    lastMs: () => last,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

function send(response: ServerResponse, answer: unknown): void {
  if (Buffer.isBuffer(answer)) {
    response.writeHead(200, { 'Content-Type': 'audio/wav' }).end(answer);
    return;
  }
  response.writeHead(answer === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(answer ?? {}));
}
