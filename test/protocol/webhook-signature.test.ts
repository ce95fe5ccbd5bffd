import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { matchWebhookLayout, signWebhook } from '../../src/protocol/webhook-signature.ts';

const { webhook }: { webhook: Record<'secret' | 'timestamp' | 'id' | 'body' | 'newline' | 'dot', string> } =
  JSON.parse(readFileSync(new URL('../fixtures/canonical-vectors.json', import.meta.url), 'utf8'));
const { secret, body } = webhook;
const parts = { timestamp: webhook.timestamp, eventId: webhook.id, body };

/** Every text that differs in one bit; ASCII, so that each stays one character. */
function bitFlips(text: string): string[] {
  return [...text].flatMap((character, at) =>
    [1, 2, 4, 8, 16, 32, 64].map((bit) => {
      const flipped = String.fromCharCode(character.charCodeAt(0) ^ bit);
      return text.slice(0, at) + flipped + text.slice(at + 1);
    }),
  );
}

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

  it.each(['newline', 'dot'] as const)(
    'is invalid with every flipped bit of timestamp, id, body and signature (%s)',
    (layout) => {
      const signature = webhook[layout];
      const accepted = [
        ...bitFlips(parts.timestamp).filter((timestamp) =>
          matchWebhookLayout(secret, { ...parts, timestamp }, signature),
        ),
        ...bitFlips(parts.eventId).filter((eventId) =>
          matchWebhookLayout(secret, { ...parts, eventId }, signature),
        ),
        ...bitFlips(body).filter((flipped) =>
          matchWebhookLayout(secret, { ...parts, body: flipped }, signature),
        ),
        ...bitFlips(signature).filter((flipped) => matchWebhookLayout(secret, parts, flipped)),
      ];
      expect(accepted).toEqual([]);
    },
  );

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

  it('does not match a body that was parsed and written again', () => {
    const spaced = JSON.stringify(JSON.parse(body), null, 1);
    expect(matchWebhookLayout(secret, { ...parts, body: spaced }, webhook.newline)).toBeNull();
  });
});
