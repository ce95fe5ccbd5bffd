/** The command line of the suite. */
import { parseArgs } from 'node:util';

export const USAGE = `Usage: node test/conformance/cli.ts --base-url URL --key KEY [options]

Tests a service against the rules of the Video Localization API v1. The API secret is read from the variable
CONFORMANCE_SECRET. The run creates jobs, which cost credits: a few of each kind with --media, of a short video.

  --base-url URL          base address of the service, ends in /v1
  --key KEY               public identifier of the API key
  --header-prefix NAME    start of the signature headers (default: X-Service)
  --mode MODE             strict: also what we decided where the specification is silent (default);
                          tolerant: only what the specification says
  --media FILE            a short video with speech; without it, rules that need one are skipped
  --media-url URL         public https address of such a video
  --source-language TAG   language of the text that is translated (default: en)
  --target-language TAG   language that is asked for (default: es)
  --other-key KEY         a second key of the same workspace; its secret is read from CONFORMANCE_OTHER_SECRET
  --webhook-url URL       where services reach this machine; webhooks are verified with CONFORMANCE_WEBHOOK_SECRET
  --webhook-port PORT     port that such calls arrive on (default: 8787)
  --no-jobs               make no jobs: skips what costs credits
  --only TEXT             only rules whose id contains the text
  --patience SECONDS      longest wait for a job or a validation (default: 600)
  --output FORM           table (default) or json

Exit code: 0 when no rule failed, 1 when one did, 2 when the run could not begin.
`;

/** Invalid arguments. The message says what to change. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface Arguments {
  readonly baseUrl: string;
  readonly key: string;
  readonly headerPrefix: string;
  readonly strict: boolean;
  readonly media: string | null;
  readonly mediaUrl: string | null;
  readonly languages: { readonly source: string; readonly target: string };
  readonly otherKey: string | null;
  readonly webhooks: { readonly url: string; readonly port: number } | null;
  readonly jobs: boolean;
  readonly only: string;
  readonly patienceSeconds: number;
  readonly output: 'table' | 'json';
}

const OPTIONS = {
  'base-url': { type: 'string' },
  key: { type: 'string' },
  'header-prefix': { type: 'string', default: 'X-Service' },
  mode: { type: 'string', default: 'strict' },
  media: { type: 'string' },
  'media-url': { type: 'string' },
  'source-language': { type: 'string', default: 'en' },
  'target-language': { type: 'string', default: 'es' },
  'other-key': { type: 'string' },
  'webhook-url': { type: 'string' },
  'webhook-port': { type: 'string', default: '8787' },
  'no-jobs': { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
  patience: { type: 'string', default: '600' },
  output: { type: 'string', default: 'table' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** Parses the arguments. Returns null if help was requested. @throws UsageError */
export function readArguments(argv: readonly string[]): Arguments | null {
  const values = parse(argv);
  if (values.help) return null;
  const { mode, output } = values;
  if (mode !== 'strict' && mode !== 'tolerant') throw new UsageError('--mode is strict or tolerant');
  if (output !== 'table' && output !== 'json') throw new UsageError('--output is table or json');
  const url = values['webhook-url'];
  const port = readNumber('--webhook-port', values['webhook-port'], 65_535);
  return {
    baseUrl: readBaseUrl(values['base-url']),
    key: requireValue('--key', values.key),
    headerPrefix: values['header-prefix'],
    strict: mode === 'strict',
    media: values.media ?? null,
    mediaUrl: values['media-url'] ?? null,
    languages: { source: values['source-language'], target: values['target-language'] },
    otherKey: values['other-key'] ?? null,
    webhooks: url === undefined ? null : { url, port },
    jobs: !values['no-jobs'],
    only: values.only,
    // One day: no job takes longer.
    patienceSeconds: readNumber('--patience', values.patience, 86_400),
    output,
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, strict: true }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function requireValue(option: string, value: string | undefined): string {
  if (value === undefined || value === '') throw new UsageError(`${option} is missing`);
  return value;
}

function readBaseUrl(value: string | undefined): string {
  const text = requireValue('--base-url', value);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`--base-url: not an address: ${text}`);
  if (!/\/v1\/?$/.test(url.pathname)) throw new UsageError('--base-url must end in /v1');
  return url.href;
}

function readNumber(option: string, text: string, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most) {
    throw new UsageError(`${option} is a whole number between 1 and ${most}`);
  }
  return value;
}
