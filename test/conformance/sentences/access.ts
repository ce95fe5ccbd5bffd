/** Specification: "Authentication" and "Events". */
import type { Sentences } from './sentence.ts';

export const AUTHENTICATION_SENTENCES = {
  'auth.four-headers': 'every request must carry the four signature headers',
  'auth.key': 'X-Service-Key: the public identifier of the key',
  'auth.timestamp': 'X-Service-Timestamp: Unix seconds, at most 300 seconds from server time',
  'auth.nonce': 'X-Service-Nonce: single use, not repeated under the same key within 10 minutes',
  'auth.signature': 'X-Service-Signature: lower-case hexadecimal HMAC-SHA256',
  'auth.secret-stays': {
    text: 'the API secret is never sent and kept on the server side only',
    unseen: 'a duty of the client; the suite signs with it and never sends it',
  },
  'auth.canonical-lines': 'the signature covers method, path and query, timestamp, nonce and body',
  'auth.hmac': 'the signature is keyed with the API secret',
  'auth.version-in-path': 'signed paths include the `/v1` prefix',
  'auth.permissions': 'key-level control: capability permissions',
  'auth.quota': 'key-level control: monthly credit quota',
  'auth.allow-list': 'an address outside the allow-list fails with SOURCE_IP_NOT_ALLOWED',
  'auth.plan': 'no valid plan fails with API_ACCESS_NOT_INCLUDED_IN_PLAN',
  'auth.failed': 'a bad key, timestamp, nonce or signature fails with AUTHENTICATION_FAILED (401)',
  'auth.webhook-secret': 'webhooks are verified with a webhook secret, not the API secret',
  'auth.canonical-form': 'canonicalization of path and query: not shown',
  'auth.webhook-layout': 'byte layout of the webhook signature: not shown',
} as const satisfies Sentences;

export const EVENT_SENTENCES = {
  'event.terminal': 'a POST to `callback_url` when a job becomes succeeded, failed or cancelled',
  'event.json': 'the event has a JSON body',
  'event.timestamp': 'X-Service-Webhook-Timestamp: 10 digits',
  'event.id': 'X-Service-Webhook-Id: `^evt_[A-Za-z0-9_-]{16,80}$`',
  'event.signature': 'X-Service-Webhook-Signature: 64 lower-case hexadecimal characters',
  'event.signature-input': 'signed are the timestamp, the event id and the SHA-256 of the raw body',
  'event.receiver-verifies': {
    text: 'receivers verify the raw body, process by event id, accept duplicates and keep polling',
    unseen: 'duties of the receiver',
  },
  'event.success': 'any 2xx within 5 seconds counts as success',
  'event.retried': 'a 400 response is a failed delivery that is retried',
  'event.body': 'fields of the body and literal event types: not shown',
  'event.schedule': 'retry schedule and number of attempts: not shown',
} as const satisfies Sentences;
