import { Failure } from '../../errors/failure.ts';
import type { WebhookRules } from './judge-webhook.ts';

/**
 * Refuses rules under which anybody could forge a delivery, or nobody could send one.
 * @throws Failure (`configuration`)
 */
export function checkWebhookRules({ secret, toleranceSeconds = 0, now }: WebhookRules): void {
  if (secret === '') {
    throw wrong('WEBHOOK_SECRET_MISSING', 'no webhook secret is set', 'Set VLOC_WEBHOOK_SECRET.');
  }
  if (/[\r\n]/.test(secret)) {
    throw wrong(
      'WEBHOOK_SECRET_INVALID',
      'the webhook secret holds a line break',
      'Give the secret alone: `printf %s` writes it without a line break, `echo` adds one.',
    );
  }
  // NaN would pass every comparison, and with it every replay.
  if (!Number.isFinite(toleranceSeconds) || toleranceSeconds < 0 || !Number.isFinite(now)) {
    throw wrong(
      'WEBHOOK_TOLERANCE_INVALID',
      'the tolerance and the time must be numbers, and the tolerance not negative',
      'Leave the tolerance out for 300 seconds.',
    );
  }
}

function wrong(code: string, message: string, advice: string): Failure {
  return new Failure({ category: 'configuration', code, message, advice });
}
