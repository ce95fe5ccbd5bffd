/** What a new profile is made of, from flags, from stdin, and from questions on a terminal. */
import { parseBaseUrl } from '../client/transport/base-url.ts';
import { cleanSecret } from '../profiles/secret-text.ts';
import type { OptionTable, OptionValues } from './command.ts';
import type { Context } from './context.ts';
import { usageFailure } from './usage-failure.ts';

export const INPUT_OPTIONS = {
  key: { type: 'text', value: 'id', help: 'public identifier of the API key' },
  secretStdin: { type: 'flag', help: 'read the secret from stdin, one line' },
  secretCommand: {
    type: 'text',
    value: 'command',
    help: 'store this command; it prints the secret at each run',
  },
  headerPrefix: { type: 'text', value: 'prefix', help: "the service's header prefix (default: X-Service)" },
  webhookSecretStdin: {
    type: 'flag',
    help: 'read the secret of webhooks from stdin, from the line after the --secret-stdin one',
  },
  webhookSecretCommand: {
    type: 'text',
    value: 'command',
    help: 'a command that prints the secret of webhooks',
  },
} as const satisfies OptionTable;

/** A secret itself, or the command that prints it. */
export type GivenSecret =
  | { readonly type: 'value'; readonly value: string }
  | { readonly type: 'command'; readonly command: string };

export interface ProfileInput {
  readonly baseUrl: string;
  readonly key: string;
  readonly headerPrefix: string | undefined;
  readonly secret: GivenSecret;
  readonly webhookSecret: GivenSecret | undefined;
}

const SECRET_QUESTION = {
  text: 'API secret (not shown):',
  typed: 'hidden',
  flag: '--secret-stdin or --secret-command',
} as const;

/**
 * Collects everything before anything is checked or stored.
 * @throws Failure (`usage`) for what is missing where nobody can be asked, (`configuration`) for a wrong address
 */
export async function readProfileInput(
  context: Context,
  options: OptionValues<typeof INPUT_OPTIONS>,
): Promise<ProfileInput> {
  const { secretStdin, secretCommand, webhookSecretStdin, webhookSecretCommand } = options;
  exclude(secretStdin, secretCommand, 'secret');
  exclude(webhookSecretStdin, webhookSecretCommand, 'webhook-secret');
  const { terminal } = context;
  const baseUrl =
    context.service.baseUrl ??
    (await terminal.ask({ text: 'Base URL:', typed: 'shown', flag: '--base-url' }));
  parseBaseUrl(baseUrl);
  const key = options.key ?? (await terminal.ask({ text: 'API key:', typed: 'shown', flag: '--key' }));
  const piped = secretStdin || webhookSecretStdin ? await readLines(context) : [];
  const fromCommand = (command: string): GivenSecret => ({ type: 'command', command });
  const next = (flag: string) => checkSecret(piped.shift() ?? '', flag);
  const secret =
    secretCommand === undefined
      ? secretStdin
        ? next('--secret-stdin')
        : checkSecret(await terminal.ask(SECRET_QUESTION), 'the secret')
      : fromCommand(secretCommand);
  const webhookSecret =
    webhookSecretCommand === undefined
      ? webhookSecretStdin
        ? next('--webhook-secret-stdin')
        : undefined
      : fromCommand(webhookSecretCommand);
  return {
    baseUrl: baseUrl.replace(/\/+$/, ''),
    key,
    headerPrefix: options.headerPrefix,
    secret,
    webhookSecret,
  };
}

function exclude(stdin: boolean, command: string | undefined, name: string): void {
  if (!stdin || command === undefined) return;
  throw usageFailure(`--${name}-stdin and --${name}-command exclude each other`, 'Leave one of them out.');
}

/** More than two secrets ever need. */
const LARGEST_BYTES = 64 * 1024;

async function readLines({ io }: Context): Promise<string[]> {
  if (io.stdin.isTTY === true) {
    throw usageFailure(
      'stdin is a terminal, which would show the secret',
      'Leave the flag out to be asked for it.',
    );
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of io.stdin) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    if (size > LARGEST_BYTES)
      throw usageFailure('stdin holds more than secrets', 'Pipe in the secret alone.');
  }
  return Buffer.concat(chunks).toString('utf8').split(/\r?\n/);
}

function checkSecret(text: string, where: string): GivenSecret {
  const value = cleanSecret(text);
  if (value !== null) return { type: 'value', value };
  throw usageFailure(
    `no secret from ${where}: it is empty, or has spaces or control characters`,
    'Give it on one line, without spaces.',
  );
}
