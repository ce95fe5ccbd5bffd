/** What was probably done to a body whose signature is wrong: people save and paste bodies before they verify them. */
import {
  judgeWebhook,
  type ReceivedWebhook,
  type WebhookRules,
} from '../../client/webhooks/verify-webhook.ts';

interface Change {
  readonly advice: string;
  readonly undo: (body: string) => string | null;
}

const CHANGES: readonly Change[] = [
  {
    advice:
      'Without the line break at its end the body is the one that was signed: an editor or `echo` added it.',
    undo: (body) => (body.endsWith('\n') ? body.replace(/\r?\n$/, '') : null),
  },
  {
    advice: 'With a line break at its end the body would be the one that was signed: `$(…)` takes it off.',
    undo: (body) => `${body}\n`,
  },
  {
    advice: 'The body was parsed and serialized again: verify the raw bytes, before any JSON parser.',
    undo: compact,
  },
];

/** Advice that fits, or null. Only for explaining: a body that was changed stays refused. */
export function explainMismatch({ body, headers }: ReceivedWebhook, rules: WebhookRules): string | null {
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  const change = CHANGES.find(({ undo }) => {
    const original = undo(text);
    return original !== null && judgeWebhook({ body: original, headers }, rules).valid;
  });
  return change?.advice ?? null;
}

function compact(body: string): string | null {
  try {
    return JSON.stringify(JSON.parse(body));
  } catch {
    return null;
  }
}
