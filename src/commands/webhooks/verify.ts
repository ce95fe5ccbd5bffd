import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import * as v from 'valibot';
import { type Failure, refusedFailure } from '../../base/failure.ts';
import { type OptionTable, type OptionValues, textOption } from '../../base/option.ts';
import { describeUnreadable } from '../../base/system-error.ts';
import {
  judgeWebhook,
  type RawWebhook,
  type WebhookCheckResult,
  type WebhookRules,
} from '../../client/webhooks/verify-webhook.ts';
import { webhookHeaderNames } from '../../protocol/headers.ts';
import { parseInstant } from '../../protocol/instant.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { JSON_ONLY, type Presentation, presentLine } from '../context/output/presentation.ts';
import { explainMismatch, parseSavedHeaders, RULE_OPTIONS, readRules, WEBHOOK_CHECKS } from './rules.ts';

const OPTIONS = {
  body: textOption('file', 'raw body as received, or - for stdin', { required: true }),
  headers: textOption('file', 'headers, one per line, as saved by curl or a log; or - for stdin'),
  timestamp: textOption('seconds', 'value of the timestamp header, instead of --headers'),
  id: textOption('event', 'value of the id header, instead of --headers'),
  signature: textOption('hex', 'value of the signature header, instead of --headers'),
  at: textOption('time', 'time of arrival, RFC 3339 or Unix seconds (default: now)'),
  ...RULE_OPTIONS,
} as const satisfies OptionTable;

type Options = OptionValues<typeof OPTIONS>;

const VERDICTS = [
  v.object({ valid: v.literal(true), event_id: v.string(), form: v.string(), age_seconds: v.number() }),
  v.object({ valid: v.literal(false), check: v.picklist(WEBHOOK_CHECKS), message: v.string() }),
];

const WEBHOOK_VERDICT = { json: VERDICTS, ndjson: VERDICTS };

export const webhooksVerify: Command = defineCommand({
  options: OPTIONS,
  examples: [
    {
      command: 'vloc webhooks verify --body event.json --headers headers.txt --at 2026-11-20T18:04:05Z',
      explains: 'verify a saved delivery as of its arrival',
    },
    {
      command:
        'vloc webhooks verify --body - --timestamp 1795197845 --id evt_01k9x2m4n6p8q0r2s4t6v8w0y2 --signature "$SIGNATURE" < event.json',
      explains: 'the same with the values of its headers',
    },
  ],
  notes: [
    'Exit code 0: genuine; 1: not genuine, with the check that failed: form, signature or timestamp. The secret comes from VLOC_WEBHOOK_SECRET, the profile or --secret-stdin.',
    'In a Node program: import { verifyWebhook } from "vloc".',
  ],
  prints: WEBHOOK_VERDICT,
  run: async (context, _operands, options) => {
    checkOptions(options);
    const now = options.at === undefined ? context.io.now() : readArrival(options.at);
    const rules = { ...(await readRules(context, options)), now };
    const received = await readDelivery(context, options, rules);
    const verdict = judgeWebhook(received, rules);
    await context.present.show(presentVerdict(verdict));
    if (!verdict.valid) throw webhookFileFailure(verdict, received, rules);
    return 0;
  },
});

function checkOptions({ body, headers, timestamp, id, signature, secretStdin }: Options): void {
  if (body === undefined) throw verifyUsageFailure('--body is missing');
  if ([body === '-', headers === '-', secretStdin].filter(Boolean).length > 1) {
    throw verifyUsageFailure('stdin can be only one of --body, --headers and the secret');
  }
  const parts = [timestamp, id, signature].filter((value) => value !== undefined);
  if (headers === undefined ? parts.length < 3 : parts.length > 0) {
    throw verifyUsageFailure('give either --headers, or all of --timestamp, --id and --signature');
  }
}

async function readDelivery(context: Context, options: Options, rules: WebhookRules): Promise<RawWebhook> {
  const { body = '-', headers, timestamp, id, signature } = options;
  const names = webhookHeaderNames(rules.headerPrefix);
  return {
    headers:
      headers === undefined
        ? { [names.timestamp]: timestamp, [names.id]: id, [names.signature]: signature }
        : parseSavedHeaders((await readInput(context, headers)).toString('utf8')),
    body: await readInput(context, body),
  };
}

async function readInput({ io }: Context, file: string): Promise<Buffer> {
  if (file === '-') return buffer(io.stdin);
  try {
    return await readFile(resolve(io.cwd, file));
  } catch (error) {
    const why = describeUnreadable(error);
    if (why === null) throw error;
    throw verifyUsageFailure(`${file}: ${why}`);
  }
}

/** RFC 3339 with a time zone, or Unix seconds; milliseconds since 1970. */
function readArrival(text: string): number {
  if (/^\d{1,11}$/.test(text)) return Number(text) * 1000;
  const instant = parseInstant(text.replace(' ', 'T'));
  if (instant === null) {
    throw verifyUsageFailure(
      '--at is neither Unix seconds nor a time with its zone, such as 2026-11-20T18:04:05Z',
    );
  }
  return instant;
}

function presentVerdict(verdict: WebhookCheckResult): Presentation {
  if (!verdict.valid) return { ...JSON_ONLY, document: () => verdict, isLine: true };
  const { valid, eventId, layout, ageSeconds } = verdict;
  const document = { valid, event_id: eventId, form: layout, age_seconds: ageSeconds };
  return {
    ...presentLine(document, `valid ${layout}`),
    ids: () => [eventId],
    pages: () => [`Genuine: ${eventId}, signed ${describeAge(ageSeconds)} in the ${layout} form.`],
  };
}

function describeAge(seconds: number): string {
  return seconds < 0 ? `${-seconds} s ahead of this clock` : `${seconds} s ago`;
}

function webhookFileFailure(
  { check, message }: WebhookCheckResult & { valid: false },
  received: RawWebhook,
  rules: WebhookRules,
): Failure {
  return refusedFailure(
    `WEBHOOK_${check.toUpperCase()}_INVALID`,
    `webhook rejected: ${message}`,
    (check === 'signature' ? explainMismatch(received, rules) : null) ?? ADVICE[check],
  );
}

const ADVICE = {
  form: 'Compare the headers with those of the delivery; --header-prefix says how their names begin.',
  signature: 'Check that it is the webhook secret, not the API secret, and verify the raw bytes of the body.',
  timestamp: 'For a saved delivery give the time of its arrival with --at; else check the clock.',
} as const;

function verifyUsageFailure(message: string): Failure {
  return invalidCallFailure(message, 'See `vloc webhooks verify --help`.');
}
