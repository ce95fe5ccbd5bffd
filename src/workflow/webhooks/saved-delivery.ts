/** Saved deliveries: parsing of their headers, and detection of changes to their body. */
import {
  judgeWebhook,
  type ReceivedWebhook,
  type WebhookRules,
} from '../../client/webhooks/verify-webhook.ts';

/** `Name: value`; curl writes `> ` or `< ` before it. */
const HEADER_LINE = /^(?:[<>]\s)?([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/;

/** Names and values in the order of the file, with repetitions; other lines are ignored. */
export function parseSavedHeaders(text: string): readonly (readonly [string, string])[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const match = HEADER_LINE.exec(line);
    return match?.[1] === undefined ? [] : [[match[1], match[2] ?? ''] as const];
  });
}

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

/** Advice for a probable change of the body, or null. The body stays rejected. */
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
