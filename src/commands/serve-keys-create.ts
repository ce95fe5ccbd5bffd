import { type Command, defineCommand } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { usageFailure } from '../context/usage-failure.ts';
import { errorCode } from '../errors/system-error.ts';
import { JOB_KIND_NAMES, type JobKind } from '../protocol/kind-names.ts';
import type { IssuedKey, KeyRules } from '../service/index.ts';
import type { KeyAdmin } from '../service/operate/key-admin.ts';
import { STATE_DIR, showNewKey, withKeys } from './serve-keys.ts';

export const serveKeysCreate: Command = defineCommand({
  options: {
    permission: {
      type: 'list',
      value: 'kind',
      help: `capabilities the key may use, of ${JOB_KIND_NAMES.join(', ')} (default: all)`,
    },
    monthlyQuota: {
      type: 'number',
      value: 'credits',
      help: 'credits per calendar month, in Asia/Shanghai (default: no limit)',
    },
    allow: {
      type: 'list',
      value: 'address',
      help: 'addresses and networks that may use the key (default: any)',
    },
    stateDir: STATE_DIR,
  },
  examples: [
    { command: 'vloc serve keys create --output json', explains: 'a key for everything, with its secrets' },
    {
      command: 'vloc serve keys create --permission dubbing --monthly-quota 500 --allow 192.0.2.0/24',
      explains: 'a key for dubbing alone, 500 credits a month, from one network',
    },
  ],
  notes: [
    'The secrets are shown only once; `vloc serve keys list` never shows them. Running services accept the key immediately.',
  ],
  run: async (context, _operands, options) => {
    const { permission, monthlyQuota = null, allow, stateDir } = options;
    if (context.output === 'id') {
      throw usageFailure(
        '--output id would lose the secret of the new key',
        'Use --output json, plain or table.',
      );
    }
    const rules: KeyRules = {
      ...(permission.length === 0 ? {} : { permissions: permission.map(readKind) }),
      monthlyLimitCredits: checkQuota(monthlyQuota),
      allowedAddresses: allow,
    };
    await withKeys(context, { stateDir, make: true }, async (desk) => {
      const issued = issueKey(desk, rules);
      await showNewKey(
        context,
        () => announce(context, issued),
        () => desk.drop(issued.key),
      );
    });
    context.terminal.note('Keep the secrets now: they are not shown again.');
    return 0;
  },
});

function issueKey(desk: KeyAdmin, rules: KeyRules): IssuedKey {
  try {
    return desk.issue(rules);
  } catch (error) {
    if (!isAddressError(error)) throw error;
    throw usageFailure(
      `--allow: ${error.message}`,
      'Write addresses and networks such as 192.0.2.7 or 192.0.2.0/24.',
    );
  }
}

function readKind(text: string): JobKind {
  const kind = JOB_KIND_NAMES.find((name) => name === text);
  if (kind !== undefined) return kind;
  throw usageFailure(
    `--permission: unknown capability "${text}"`,
    `Choose one of ${JOB_KIND_NAMES.join(', ')}.`,
  );
}

function checkQuota(credits: number | null): number | null {
  if (credits === null || credits >= 0) return credits;
  throw usageFailure('--monthly-quota must not be negative', 'Leave it out for no limit.');
}

/** What Node throws for a text that is no address or no network. */
function isAddressError(error: unknown): error is Error {
  return ['ERR_INVALID_ADDRESS', 'ERR_OUT_OF_RANGE'].includes(errorCode(error));
}

function announce(context: Context, { key, secret, webhookSecret }: IssuedKey): void {
  switch (context.output) {
    case 'json':
    case 'ndjson':
      context.print(JSON.stringify({ key, secret, webhook_secret: webhookSecret }));
      break;
    case 'plain':
    case 'id':
      context.print(`${key} ${secret} ${webhookSecret}`);
      break;
    case 'table':
      context.print(`VLOC_KEY=${key}`);
      context.print(`VLOC_SECRET=${secret}`);
      context.print(`VLOC_WEBHOOK_SECRET=${webhookSecret}`);
  }
}
