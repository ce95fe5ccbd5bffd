import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { matchWebhookLayout, signWebhook } from '../../src/protocol/webhook-signature.ts';

const { webhook }: { webhook: Record<'secret' | 'timestamp' | 'id' | 'body' | 'newline' | 'dot', string> } =
  JSON.parse(readFileSync(new URL('../fixtures/canonical-vectors.json', import.meta.url), 'utf8'));
const { secret, body } = webhook;
const parts = { timestamp: webhook.timestamp, eventId: webhook.id, body };

describe('the signature of a webhook', () => {
  it('equals the vectors made outside the project, in both layouts', () => {
    expect(signWebhook(secret, parts)).toBe(webhook.newline);
    expect(signWebhook(secret, parts, 'newline')).toBe(webhook.newline);
    expect(signWebhook(secret, parts, 'dot')).toBe(webhook.dot);
  });

  it('is the same for a body as bytes and as text', () => {
    expect(signWebhook(secret, { ...parts, body: Buffer.from(body) })).toBe(webhook.newline);
  });

  it('shows which layout the sender used', () => {
    expect(matchWebhookLayout(secret, parts, webhook.newline)).toBe('newline');
    expect(matchWebhookLayout(secret, parts, webhook.dot)).toBe('dot');
  });

  it.each([
    ['empty', ''],
    ['in upper case', webhook.newline.toUpperCase()],
    ['one digit longer', `${webhook.newline}0`],
    ['one digit shorter', webhook.newline.slice(1)],
    ['followed by a line break', `${webhook.newline}\n`],
    ['of another secret', signWebhook(`${secret}x`, parts)],
  ])('is refused when it is %s', (_name, signature) => {
    expect(matchWebhookLayout(secret, parts, signature)).toBeNull();
  });
});
