/** A receiver of webhooks, and a look at the queue of a service. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { openSqliteFile } from '../../../../src/service/store/sqlite-file.ts';
import { type Scene, TRANSLATION, until } from '../../harness/scene.ts';
import { startSecure } from '../outside.ts';

export const HOUR_MS = 3_600_000;
export const OPEN = { allowLoopback: true };

export interface Delivery {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly deliveries: Delivery[];
}

/** Takes deliveries and answers with these statuses, the last one from then on; 0 never answers. */
export async function startReceiver(...statuses: number[]): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    const status = statuses[Math.min(deliveries.length, statuses.length - 1)] ?? 204;
    deliveries.push({ headers: request.headers, body });
    if (status !== 0) response.writeHead(status, { Location: '/elsewhere' }).end();
  };
  const { origin } = await startSecure((request, response) => void answer(request, response));
  return { url: `${origin}/hook?token=abc`, deliveries };
}

interface Row {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly run_after: number;
  readonly lease_owner: string | null;
}

/** The deliveries in the store of a service that may still run. */
export function readRows(stateDir: string): Row[] {
  const store = openSqliteFile(join(stateDir, 'service.sqlite'), { synchronous: 'NORMAL', advice: '' });
  try {
    return store.all<Row>('SELECT id, status, attempts, run_after, lease_owner FROM deliveries');
  } finally {
    store.close();
  }
}

export async function createJob({ caller }: Pick<Scene, 'caller'>, callback_url: string) {
  const reply = await caller.post('/v1/subtitle-translations', {
    ...TRANSLATION,
    client_reference: 'lesson 1',
    callback_url,
  });
  expect(reply.status).toBe(202);
  return reply.json;
}

/** Waits until that many attempts are over; returns the row. */
export async function untilAttempted({ stateDir }: Pick<Scene, 'stateDir'>, attempts: number): Promise<Row> {
  const rows = await until(
    () => readRows(stateDir),
    ([row]) => row?.attempts === attempts && row.lease_owner === null,
  );
  if (rows[0] === undefined) throw new Error('there is no delivery');
  return rows[0];
}

/**
 * Lets time pass until that many events have arrived, and no longer: the wait for the next attempt counts from then. It does not pass
 * while one is sent: its receiver has 5 s for the answer.
 */
export async function passUntilDelivered(
  { clock, stateDir }: Pick<Scene, 'clock' | 'stateDir'>,
  { deliveries }: Receiver,
  count: number,
): Promise<void> {
  await until(
    () => {
      const isSending = readRows(stateDir).some((row) => row.lease_owner !== null);
      if (deliveries.length < count && !isSending) clock.advance(500);
      return deliveries.length;
    },
    (arrived) => arrived >= count,
  );
}

export function only({ deliveries }: Receiver): Delivery {
  expect(deliveries).toHaveLength(1);
  const [delivery] = deliveries;
  if (delivery === undefined) throw new Error('nothing was delivered');
  return delivery;
}
