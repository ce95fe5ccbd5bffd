/** Verification of webhooks for `listen` and `verify`: options, settings, and saved deliveries. */

import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import { configurationFailure } from '../../base/failure.ts';
import {
  choiceOption,
  durationOption,
  flagOption,
  type OptionTable,
  type OptionValues,
  textOption,
} from '../../base/option.ts';
import {
  checkWebhookRules,
  judgeWebhook,
  type RawWebhook,
  type WebhookRules,
} from '../../client/webhooks/verify-webhook.ts';
import { withoutLineBreak } from '../../profiles/secrets.ts';
import type { SecretSource, Settings } from '../../profiles/settings.ts';
import type { WebhookLayout } from '../../protocol/webhook-signature.ts';
import { createKeeper, readSettings } from '../context/connection.ts';
import type { Context } from '../context/context.ts';

/** The checks of a delivery, in their order. */
export const WEBHOOK_CHECKS = ['form', 'signature', 'timestamp'] as const;

export const RULE_OPTIONS = {
  secretStdin: flagOption('read the webhook secret from stdin, not from VLOC_WEBHOOK_SECRET or the profile'),
  form: choiceOption(
    ['auto', 'newline', 'dot'],
    'separator of the three signed parts; auto tries both and reports which one matched',
    { default: 'auto' },
  ),
  headerPrefix: textOption('prefix', 'prefix of the header names (default: as configured, else X-Service)'),
  tolerance: durationOption('maximum difference between the timestamp and the arrival (default: 300s)'),
} as const satisfies OptionTable;

/** The rules without the current time. */
export type VerificationRules = Omit<WebhookRules, 'now'>;

/**
 * Reads options, environment and stdin.
 * @throws Failure (`configuration`) when there is no usable secret
 */
export async function readRules(
  context: Context,
  options: OptionValues<typeof RULE_OPTIONS>,
): Promise<VerificationRules> {
  const settings = await readSettings(context, context.terminal.warn);
  const form: WebhookLayout | 'auto' = options.form;
  const rules: VerificationRules = {
    secret: await readSecret(context, options.secretStdin, settings),
    headerPrefix: options.headerPrefix ?? settings.headerPrefix.value,
    toleranceSeconds: options.tolerance === undefined ? undefined : options.tolerance / 1000,
    layout: form === 'auto' ? undefined : form,
  };
  checkWebhookRules({ ...rules, now: context.io.now() });
  return rules;
}

async function readSecret(
  context: Context,
  fromStdin: boolean,
  { webhookSecret }: Settings,
): Promise<string> {
  const given = fromStdin ? await readStdin(context) : await fetchSecret(context, webhookSecret?.value);
  const secret = withoutLineBreak(given, 'The webhook secret', context.terminal.warn);
  if (secret === '') {
    throw configurationFailure(
      'WEBHOOK_SECRET_MISSING',
      fromStdin ? 'no webhook secret on stdin' : 'no webhook secret is set',
      'Set VLOC_WEBHOOK_SECRET, or pipe it into --secret-stdin. An embedded service shows it with each new key: `vloc serve keys create --output json`.',
    );
  }
  return secret;
}

async function fetchSecret(context: Context, source: SecretSource | undefined): Promise<string> {
  return source === undefined ? '' : createKeeper(context).fetch(source, context.signal);
}

async function readStdin({ io, signal, terminal }: Context): Promise<string> {
  if (io.stdin.isTTY === true) terminal.note('Type the webhook secret, then Enter and Ctrl-D:');
  try {
    return await text(addAbortSignal(signal, io.stdin));
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

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
    advice: 'The body was signed without the line break at its end: an editor or `echo` added it.',
    undo: (body) => (body.endsWith('\n') ? body.replace(/\r?\n$/, '') : null),
  },
  {
    advice: 'The body was signed with a line break at its end, which `$(…)` removes.',
    undo: (body) => `${body}\n`,
  },
  {
    advice: 'The body was parsed and serialized again: verify the raw bytes, before any JSON parser.',
    undo: compact,
  },
];

/** Advice for a probable change of the body, or null. The body stays rejected. */
export function explainMismatch({ body, headers }: RawWebhook, rules: WebhookRules): string | null {
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
