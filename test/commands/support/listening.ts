/** `vloc webhooks listen` in this process, and a sender that signs for itself. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { type SignOptions, sign } from '../../client/webhooks/sign.ts';
import { until } from '../../service/harness/scene.ts';
import { type Running, startMain } from '../../support/run-main.ts';
import type { TestIoOptions } from '../../support/test-io.ts';

export const SECRET = 'whsec_canary';
/** When everything happens, in Unix seconds. */
export const AT = 1_795_197_845;

export interface Reply {
  readonly status: number;
  readonly text: string;
}

/** Sends one request and reads the answer. */
export function send(
  url: string,
  body: Buffer | string,
  headers: Record<string, string | string[]> = {},
  method = 'POST',
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method, headers }, async (response) => {
      resolve({ status: response.statusCode ?? 0, text: await text(response) });
    });
    sending.once('error', reject).end(body);
  });
}

/** Waits for the address of a run that listens. */
export async function untilListening({ stderr }: Pick<Running, 'stderr'>): Promise<string> {
  const address = () => /Listening on (\S+);/.exec(stderr())?.[1] ?? '';
  return until(address, (url) => url !== '');
}

/** Starts listening and waits for the address. */
export async function startListening(words: readonly string[], options: TestIoOptions = {}) {
  const env = { VLOC_WEBHOOK_SECRET: SECRET, PATH: process.env.PATH ?? '', ...options.env };
  const running = startMain(['webhooks', 'listen', ...words], { now: () => AT * 1000, ...options, env });
  const ended = running.ended.then(({ code }) => code);
  onTestFinished(async () => {
    running.send('SIGTERM');
    await ended;
  });
  const url = await untilListening(running);
  const deliver = (body: string, signed: Partial<SignOptions> = {}) => {
    const { body: bytes, headers } = sign(body, { secret: SECRET, at: AT, ...signed });
    return send(url, bytes, headers);
  };
  return { ...running, url, ended, deliver };
}
