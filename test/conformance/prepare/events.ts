/** Creates jobs with webhooks, and reads their events. */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { adminOf, type ServiceUnderTest, shared } from '../service.ts';
import type { Delivery, Mailbox, Reaction } from '../webhooks.ts';
import { type Created, create } from './jobs.ts';

/**
 * Returns a service that may call this machine: with control a new workspace that allows it, else the service itself.
 */
export async function openReachable(service: ServiceUnderTest): Promise<ServiceUnderTest> {
  return service.admin === null ? service : service.admin.open({ loopback: true });
}

/** One such service for all rules that do not move its clock. */
export const reachablePlace: (service: ServiceUnderTest) => Promise<ServiceUnderTest> = shared(openReachable);

/** Opens a receiver URL for one rule. The first deliveries get these answers, all others 204. */
export function openMailbox({ supplies }: ServiceUnderTest, ...reactions: readonly Reaction[]): Mailbox {
  if (supplies.webhooks === null) throw new Error('a rule receives webhooks without asking for a receiver');
  return supplies.webhooks.receiver.open(...reactions);
}

/** The key that webhooks are signed with. */
export function secretOf({ supplies }: ServiceUnderTest): string {
  if (supplies.webhooks === null) throw new Error('a rule receives webhooks without asking for a receiver');
  return supplies.webhooks.secret;
}

/** Creates a job whose end is sent to the mailbox. */
export function createTold(
  service: ServiceUnderTest,
  mailbox: Mailbox,
  kind: Created['kind'] = 'subtitle_translation',
): Promise<Created> {
  return create(service, kind, { extra: { callback_url: mailbox.url, client_reference: 'told' } });
}

/** Waits until this many deliveries have arrived. Returns the last one. */
export async function untilDelivered(
  service: ServiceUnderTest,
  mailbox: Mailbox,
  count = 1,
  meanwhile: () => unknown = () => {},
): Promise<Delivery> {
  await service.until(
    `webhook ${count} to be delivered`,
    async () => meanwhile(),
    () => mailbox.deliveries.length >= count,
  );
  const delivery = mailbox.deliveries[count - 1];
  assert.ok(delivery !== undefined, `there is a delivery ${count}`);
  return delivery;
}

/**
 * Waits until the service has recorded how an attempt at its newest webhook ended. A clock that is moved before makes the answer
 * to the attempt too late, or the next attempt.
 * @param before when that attempt was due, in ms since 1970; omitted: it was the first
 * @returns when the next attempt is due; null: there is none
 */
export async function untilRecorded(service: ServiceUnderTest, before?: number): Promise<number | null> {
  const [webhook] = await service.until(
    'the end of an attempt to be recorded',
    () => adminOf(service).webhooks(),
    ([newest]) =>
      newest !== undefined &&
      (newest.nextAttemptAt === null || newest.nextAttemptAt > (before ?? newest.createdAt)),
  );
  return webhook?.nextAttemptAt ?? null;
}

/** Returns a webhook header by the end of its name, because its prefix depends on the vendor. */
export function webhookHeader(delivery: Delivery, name: 'timestamp' | 'id' | 'signature'): string {
  const found = Object.entries(delivery.headers).find(([each]) => each.endsWith(`-webhook-${name}`));
  if (found === undefined) assert.fail(`the webhook has no …-Webhook-${name} header`);
  return found[1];
}

/** Returns the expected signature of a delivery: three components, joined as decided in the contract. */
export function signatureFor(secret: string, delivery: Delivery, separator = '\n'): string {
  const digest = createHash('sha256').update(delivery.body).digest('hex');
  const parts = [webhookHeader(delivery, 'timestamp'), webhookHeader(delivery, 'id'), digest];
  return createHmac('sha256', secret).update(parts.join(separator)).digest('hex');
}
