/** The commands on the keys of a service, and the state folder that they work on. */

import { resolve } from 'node:path';
import * as v from 'valibot';
import { Failure, refusedFailure, usageFailure } from '../../base/failure.ts';
import { listOption, numberOption, textOption } from '../../base/option.ts';
import { errorCode } from '../../base/system-error.ts';
import { readVariable, stateFolder } from '../../profiles/environment.ts';
import { JOB_KIND_NAMES, type JobKind } from '../../protocol/kind-names.ts';
import type { KeyDescription } from '../../service/auth/keys.ts';
import type { IssuedKey, KeyRules } from '../../service/index.ts';
import { hasService, type KeyAdmin, openKeyAdmin } from '../../service/operate/key-admin.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import type { Context, TableHead } from '../context/context.ts';
import { type Presentation, presentLine } from '../context/output/presentation.ts';
import { lineOf, NullableNumber, NullableText } from '../context/output-schemas.ts';
import { writeCommand } from '../context/printed-command.ts';
import { openStateFolder } from '../context/state-folder.ts';

export const STATE_DIR = textOption(
  'dir',
  'folder of the service (default: VLOC_STATE_DIR or the XDG state folder)',
  { daily: true },
);

export const DATABASE = textOption(
  'url',
  'PostgreSQL database of the account, postgres://user@host/name (default: VLOC_DATABASE, else the state folder)',
);

/**
 * Returns the database that the option or the variable names; undefined: none.
 * @throws Failure (`usage`) for a password in the option
 */
export function chooseDatabase({ io }: Context, option: string | undefined): string | undefined {
  if (option === undefined) return readVariable(io.env, 'VLOC_DATABASE');
  return refusePassword('--database', option);
}

/** @throws Failure (`usage`) for the address of a database with a password */
export function refusePassword(flag: string, address: string): string {
  const url = URL.parse(address);
  if ((url?.password ?? '') === '' && url?.searchParams.has('password') !== true) return address;
  throw invalidCallFailure(
    `${flag} has a password, which every user of this machine can read while vloc runs`,
    'Set VLOC_DATABASE to the whole address, or PGPASSWORD, or write the password into ~/.pgpass.',
  );
}

/** The chosen state folder, and whether it is created if missing. */
interface KeyFolder {
  readonly stateDir: string | undefined;
  readonly database: string | undefined;
  readonly make: boolean;
}

/**
 * Opens the keys of a state folder for some work, then closes them.
 * @throws Failure: `usage` when the folder has no service and is not to be created, else `disk`
 */
async function withKeys<Result>(
  context: Context,
  { stateDir, database: option, make }: KeyFolder,
  work: (admin: KeyAdmin) => Promise<Result> | Result,
): Promise<Result> {
  const { env, platform, now, cwd } = context.io;
  const folder = resolve(cwd, stateDir ?? stateFolder(env, platform));
  const chooser = stateDir === undefined ? 'VLOC_STATE_DIR' : '--state-dir';
  const database = chooseDatabase(context, option);
  if (!make && database === undefined && !hasService(folder)) throw noServiceFailure(folder, chooser);
  const admin = await openStateFolder(folder, chooser, () =>
    openKeyAdmin(folder, database, now, context.terminal.note),
  );
  try {
    return await openStateFolder(folder, chooser, async () => work(admin));
  } finally {
    await admin.close();
  }
}

function noServiceFailure(folder: string, chooser: string): Failure {
  return usageFailure(
    'NO_SERVICE',
    `no service has used ${folder}`,
    `Check the folder that ${chooser} names; \`vloc serve keys create\` creates the first key of a new one.`,
  );
}

/**
 * Shows a new key. If its secrets could not be printed, the key is deleted: they are not shown again.
 * @throws Failure of the output
 */
export async function showNewKey(
  context: Context,
  key: Presentation,
  takeBack: () => unknown,
): Promise<void> {
  await context.present.show(key);
  try {
    await context.printed();
  } catch (error) {
    await takeBack();
    if (!(error instanceof Failure)) throw error;
    const advice =
      'The key was not stored, because its secret could not be shown. Fix the problem, then run the same command again.';
    throw error.with({ advice });
  }
}

/** A key as a JSON document, with the field names of the API. */
function keyDocument(key: KeyDescription): object {
  return {
    key: key.key,
    permissions: key.permissions,
    monthly_quota_credits: key.monthlyLimitCredits,
    allowed_addresses: key.allowedAddresses,
    created_at: new Date(key.createdAt).toISOString(),
    revoked_at: key.revokedAt === null ? null : new Date(key.revokedAt).toISOString(),
  };
}

const KeySchema = v.object({
  key: v.string(),
  permissions: v.array(v.picklist(JOB_KIND_NAMES)),
  monthly_quota_credits: NullableNumber,
  allowed_addresses: v.array(v.string()),
  created_at: v.string(),
  revoked_at: NullableText,
});

const NewKeySchema = v.object({ key: v.string(), secret: v.string(), webhook_secret: v.string() });

const NEW_KEY = { json: [NewKeySchema], ndjson: [NewKeySchema] };

const KEY = { json: [KeySchema], ndjson: [KeySchema] };

const KEYS = {
  json: [v.array(KeySchema)],
  ndjson: [KeySchema, lineOf('summary', { keys: v.number() })],
};

export const serveKeysCreate: Command = defineCommand({
  options: {
    permission: listOption(
      'kind',
      `capabilities that the key may use: ${JOB_KIND_NAMES.join(', ')} (default: all)`,
    ),
    monthlyQuota: numberOption(
      'credits',
      'credits per calendar month, in Asia/Shanghai (default: no limit)',
      { from: 0 },
    ),
    allow: listOption('address', 'addresses and networks that may use the key (default: any)'),
    stateDir: STATE_DIR,
    database: DATABASE,
  },
  examples: [
    {
      command: 'vloc serve keys create --output json',
      explains: 'a key with all permissions, and its secrets',
    },
    {
      command: 'vloc serve keys create --permission dubbing --monthly-quota 500 --allow 192.0.2.0/24',
      explains: 'a key only for dubbing, 500 credits a month, from one network',
    },
  ],
  notes: [
    'The secrets are shown only once; `vloc serve keys list` never shows them. Running services accept the key immediately.',
  ],
  prints: NEW_KEY,
  run: async (context, _operands, options) => {
    const { permission, monthlyQuota = null, allow, stateDir, database } = options;
    if (context.present.part === 'ids') {
      throw invalidCallFailure(
        '--output id would lose the secret of the new key',
        'Use --output json, plain or table.',
      );
    }
    const rules: KeyRules = {
      ...(permission.length === 0 ? {} : { permissions: permission.map(readKind) }),
      monthlyLimitCredits: monthlyQuota,
      allowedAddresses: allow,
    };
    await withKeys(context, { stateDir, database, make: true }, async (admin) => {
      const issued = await issueKey(admin, rules);
      await showNewKey(context, presentSecrets(issued), () => admin.drop(issued.key));
    });
    context.terminal.note('Keep the secrets now: they are not shown again.');
    return 0;
  },
});

async function issueKey(admin: KeyAdmin, rules: KeyRules): Promise<IssuedKey> {
  try {
    return await admin.issue(rules);
  } catch (error) {
    if (!isAddressError(error)) throw error;
    throw invalidCallFailure(
      `--allow: ${error.message}`,
      'Write addresses and networks such as 192.0.2.7 or 192.0.2.0/24.',
    );
  }
}

function readKind(text: string): JobKind {
  const kind = JOB_KIND_NAMES.find((name) => name === text);
  if (kind !== undefined) return kind;
  throw invalidCallFailure(
    `--permission: unknown capability "${text}"`,
    `Choose one of ${JOB_KIND_NAMES.join(', ')}.`,
  );
}

/** True for the errors of Node about invalid addresses and networks. */
function isAddressError(error: unknown): error is Error {
  return ['ERR_INVALID_ADDRESS', 'ERR_OUT_OF_RANGE'].includes(errorCode(error));
}

function presentSecrets({ key, secret, webhookSecret }: IssuedKey): Presentation {
  return {
    ...presentLine({ key, secret, webhook_secret: webhookSecret }, `${key} ${secret} ${webhookSecret}`),
    pages: () => [`VLOC_KEY=${key}`, ...secretLines({ secret, webhookSecret })],
  };
}

/** Secrets as variables. */
export function secretLines({
  secret,
  webhookSecret,
}: Pick<IssuedKey, 'secret' | 'webhookSecret'>): string[] {
  return [`VLOC_SECRET=${secret}`, `VLOC_WEBHOOK_SECRET=${webhookSecret}`];
}

export const serveKeysList: Command = defineCommand({
  options: { stateDir: STATE_DIR, database: DATABASE },
  examples: [
    { command: 'vloc serve keys list', explains: 'all keys and their permissions, without their secrets' },
    {
      command: 'vloc serve keys list --output id',
      explains: 'the identifiers of the keys that are not revoked',
    },
  ],
  prints: KEYS,
  run: async (context, _operands, { stateDir, database }) => {
    const keys = await withKeys(context, { stateDir, database, make: false }, (admin) => admin.list());
    await context.present.show(presentKeys(keys));
    return 0;
  },
});

function presentKeys(keys: readonly KeyDescription[]): Presentation {
  const documents = () => keys.map(keyDocument);
  return {
    document: documents,
    events: () => [...documents(), { type: 'summary', keys: keys.length }],
    rows: () => keys.map((key) => [`${key.key} ${stateOf(key)}`]),
    ids: () => keys.flatMap(({ key, revokedAt }) => (revokedAt === null ? [key] : [])),
    pages: () => [{ head: KEY_HEAD, rows: keys.map(row) }],
  };
}

const KEY_HEAD: readonly TableHead[] = [
  'KEY',
  'STATE',
  { title: 'PERMISSIONS', wraps: 20 },
  { title: 'CREDITS A MONTH', drops: 1 },
  { title: 'FROM', wraps: 15 },
  { title: 'CREATED', drops: 2 },
];

const stateOf = ({ revokedAt }: KeyDescription) => (revokedAt === null ? 'works' : 'revoked');

function row(key: KeyDescription): string[] {
  const all = JOB_KIND_NAMES.every((kind) => key.permissions.includes(kind));
  return [
    key.key,
    stateOf(key),
    all ? 'all' : key.permissions.join(', '),
    key.monthlyLimitCredits === null ? 'no limit' : String(key.monthlyLimitCredits),
    key.allowedAddresses.join(', ') || 'anywhere',
    new Date(key.createdAt).toISOString(),
  ];
}

export const serveKeysRevoke: Command = defineCommand({
  operands: { name: 'key', count: 'one', help: 'public identifier of the key' },
  options: { stateDir: STATE_DIR, database: DATABASE },
  examples: [
    {
      command: 'vloc serve keys revoke vk_Zm9vYmFyYmF6cXV4',
      explains: 'running services refuse the key immediately; its jobs continue',
    },
  ],
  prints: KEY,
  run: async (context, [key = ''], { stateDir, database }) => {
    const revoked = await withKeys(context, { stateDir, database, make: false }, (admin) =>
      admin.revoke(key),
    );
    if (revoked === null) {
      throw refusedFailure(
        'KEY_NOT_FOUND',
        `there is no key "${key}" in this state folder`,
        `List the keys: \`${listCommand(context, stateDir)}\`. --state-dir chooses another folder.`,
      );
    }
    await context.present.show(presentLine(keyDocument(revoked), revoked.key));
    context.terminal.note('Revoked: running services refuse it from now on.');
    return 0;
  },
});

function listCommand(context: Context, stateDir: string | undefined): string {
  const folder = stateDir === undefined ? [] : ['--state-dir', stateDir];
  return writeCommand(context, ['serve', 'keys', 'list', ...folder]);
}
