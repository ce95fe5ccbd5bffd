/** The settings of an operator: the rules of the configuration file, and their conversion to service options. */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { parseJson } from '../../base/json.ts';
import { parseInstant } from '../../protocol/instant.ts';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { toCredits, toThousandths } from '../../protocol/metering.ts';
import type { FieldError } from '../../protocol/problem.ts';
import { ROLES } from '../../protocol/roles.ts';
import { compileAllowList } from '../auth/caller-address.ts';
import { DEFAULT_CONFIG, type ServiceConfig } from '../config.ts';
import type { ServiceOptions } from '../options.ts';

const number = (least: number) =>
  v.pipe(v.number('must be a number'), v.minValue(least, `at least ${least}`));
const whole = (least: number) => v.pipe(number(least), v.safeInteger('must be a whole number'));
const credits = v.pipe(
  number(0),
  v.check((value) => toCredits(toThousandths(value)) === value, 'at most three decimals'),
);
const text = v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty'));

const address = v.pipe(
  text,
  v.check((entry) => {
    try {
      compileAllowList(entry);
      return !entry.includes(',');
    } catch {
      return false;
    }
  }, 'neither an IP address nor a network such as 192.0.2.0/24'),
);
const addresses = v.array(address, 'must be a list');

const origin = v.pipe(
  text,
  v.check(
    (value) => /^https?:$/.test(URL.parse(value)?.protocol ?? '') && URL.parse(value)?.origin === value,
    'must be scheme and host alone, such as https://media.example.com',
  ),
);

const instant = v.pipe(
  text,
  v.check((value) => parseInstant(value) !== null, 'must be a time such as 2027-01-31T00:00:00Z'),
);

const port = v.pipe(whole(0), v.maxValue(65_535, 'at most 65535'));

const prices = v.strictObject(
  Object.fromEntries(JOB_KIND_NAMES.map((kind) => [kind, v.exactOptional(credits)])),
  'must be an object of kinds and credits',
);

const HOUR_MS = 60 * 60_000;
/** Proxies that check their servers every second or two have noticed by then. */
const API_SHUTDOWN_DELAY_SECONDS = 5;
const MIB = 1024 ** 2;

/**
 * One field of the file. `flag` is the option of `vloc serve` that overrides it; `default` is the documented default.
 */
const field = <S extends v.GenericSchema>(schema: S, meaning: string, facts: Facts) =>
  v.exactOptional(v.pipe(schema, v.description(meaning), v.metadata(facts)));

type Facts = { readonly default: string; readonly flag?: string };

const plain = (value: unknown) => `\`${JSON.stringify(value)}\``;

const FIELDS = {
  host: field(text, 'address to listen on', { default: '`"127.0.0.1"`', flag: '--host' }),
  port: field(port, 'port to listen on; 0 takes a free one', { default: '`0`', flag: '--port' }),
  state_dir: field(text, 'folder of everything the service keeps', {
    default: '`VLOC_STATE_DIR`, else the XDG state folder',
    flag: '--state-dir',
  }),
  database: field(text, 'address of the PostgreSQL database that keeps the account', {
    default: '`VLOC_DATABASE`, else the account is in the state folder',
    flag: '--database',
  }),
  role: field(
    v.picklist(ROLES, `must be ${ROLES.join(', ')}`),
    'what this process does with a database: `api` answers requests, `worker` runs jobs and opens no port, `all` does both',
    { default: '`VLOC_ROLE`, else `"all"`', flag: '--role' },
  ),
  storage: field(text, 'bucket of S3 that keeps uploads and results; needs `database`', {
    default: '`VLOC_STORAGE`, else they are in the state folder',
    flag: '--storage',
  }),
  public_origin: field(v.nullable(origin), 'scheme and host that callers see, behind a proxy', {
    default: 'the address listened on',
    flag: '--public-origin',
  }),
  trusted_proxies: field(addresses, 'addresses and networks whose `X-Forwarded-For` is trusted', {
    default: '`[]`',
    flag: '--trusted-proxy',
  }),
  metrics_from: field(addresses, 'addresses and networks that may read `/metrics`', {
    default: plain(['127.0.0.1', '::1']),
    flag: '--metrics-from',
  }),
  metrics_port: field(port, 'port of the health and metrics of a worker; 0 takes a free one', {
    default: '`VLOC_METRICS_PORT`, else a worker opens no port',
    flag: '--metrics-port',
  }),
  metrics_host: field(text, 'address to listen on for `metrics_port`', {
    default: '`VLOC_METRICS_HOST`, else `"127.0.0.1"`',
    flag: '--metrics-host',
  }),
  drain_seconds: field(number(0), 'how long running jobs may finish after SIGTERM; then they go to others', {
    default: '`VLOC_DRAIN`, else `0`',
    flag: '--drain',
  }),
  shutdown_delay_seconds: field(
    number(0),
    'how long requests are answered after SIGTERM while `/readyz` is 503, so that proxies notice',
    { default: '`VLOC_SHUTDOWN_DELAY`, else `5` with the role `api`, else `0`', flag: '--shutdown-delay' },
  ),
  allow_loopback: field(
    v.boolean('must be true or false'),
    'lets source and callback addresses lead to this machine, over http too',
    {
      default: plain(DEFAULT_CONFIG.allowLoopback),
      flag: '--allow-loopback',
    },
  ),
  header_prefix: field(
    v.pipe(text, v.regex(/^[A-Za-z][A-Za-z0-9-]*[A-Za-z0-9]$/, 'must be letters, digits and dashes')),
    'start of the names of the signature and webhook headers',
    { default: plain(DEFAULT_CONFIG.headerPrefix) },
  ),
  opening_credits: field(credits, 'credits on the account of a new state folder', {
    default: plain(DEFAULT_CONFIG.openingCredits),
  }),
  prices: field(prices, 'credits for one unit of each kind; omitted kinds cost the default', {
    default: '`1` each',
  }),
  rate: field(
    v.strictObject({ requests: whole(1), window_seconds: whole(1) }, 'must be an object'),
    'requests that one key may make in one window',
    {
      default: plain({
        requests: DEFAULT_CONFIG.rate.requests,
        window_seconds: DEFAULT_CONFIG.rate.windowSeconds,
      }),
    },
  ),
  concurrent_tasks: field(whole(1), 'jobs that may be queued or processing at a time, over all keys', {
    default: plain(DEFAULT_CONFIG.concurrentTasks),
  }),
  plan_ends_at: field(v.nullable(instant), 'when the plan of the workspace owner ends; null: never', {
    default: '`null`',
  }),
  workers: field(whole(0), 'jobs that this process runs at a time; 0 leaves them to others', {
    default: 'the number of cores',
  }),
  webhook_slots: field(whole(0), 'webhooks that this process sends at a time; 0 leaves them to others', {
    default: plain(DEFAULT_CONFIG.webhookSlots),
  }),
  attempts: field(whole(1), 'how often a job is begun before it fails', {
    default: plain(DEFAULT_CONFIG.attempts),
  }),
  job_deadline_hours: field(
    v.pipe(number(0), v.gtValue(0, 'must be above 0')),
    'longest time from the start of a job to its end, while a service runs',
    { default: plain(DEFAULT_CONFIG.jobDeadlineMs / HOUR_MS) },
  ),
  stage_cache_mib: field(
    whole(0),
    'maximum size in MiB of the finished stages that are kept for other jobs with the same input; 0 keeps none',
    { default: plain(DEFAULT_CONFIG.stageCacheBytes / MIB) },
  ),
};

const SettingsSchema = v.strictObject(FIELDS, 'must be an object');
type Settings = v.InferOutput<typeof SettingsSchema>;

interface SettingRow {
  readonly name: string;
  readonly flag: string;
  readonly default: string;
  readonly meaning: string;
}

/** Returns the fields as listed in the documents. */
export function describeSettings(): SettingRow[] {
  return Object.entries(FIELDS).map(([name, { wrapped }]) => {
    const facts = v.getMetadata(wrapped);
    return {
      name,
      flag: String(facts.flag ?? ''),
      default: String(facts.default),
      meaning: v.getDescription(wrapped) ?? '',
    };
  });
}

/** Invalid settings. The message names their source; `errors` lists every invalid field. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly errors: readonly FieldError[];

  constructor(message: string, errors: readonly FieldError[] = [], options?: ErrorOptions) {
    super(message, options);
    this.errors = errors;
  }
}

/** Only this machine. Other monitoring hosts must be allowed explicitly. */
const METRICS_FROM = ['127.0.0.1', '::1'];

/**
 * Reads a configuration file: JSON with the fields of `SettingsSchema`.
 * @throws SettingsError
 */
export async function readSettingsFile(path: string): Promise<Settings> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new SettingsError(`${path} cannot be read: ${messageOf(error)}`, [], { cause: error });
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw new SettingsError(`${path} is not JSON: ${messageOf(error)}`, [], { cause: error });
  }
  return checkSettings(value, `${path} cannot be used`);
}

/**
 * Checks settings from any source.
 * @param complaint start of the message if they are invalid
 * @throws SettingsError
 */
export function checkSettings(value: unknown, complaint: string): Settings {
  const result = v.safeParse(SettingsSchema, value);
  if (result.success) return result.output;
  throw new SettingsError(complaint, result.issues.map(describeIssue));
}

function describeIssue(issue: v.BaseIssue<unknown>): FieldError {
  const pointer = v.getDotPath(issue) ?? 'the file';
  if (issue.type === 'strict_object' && issue.expected === 'never') {
    return { pointer, detail: 'this version of vloc has no such setting' };
  }
  if (issue.received === 'undefined') return { pointer, detail: 'is missing' };
  return { pointer, detail: issue.message };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Converts settings to options of the service. Missing settings use the defaults of the service. */
export function optionsOf(settings: Settings, stateDir: string): ServiceOptions {
  const {
    host,
    port,
    state_dir,
    database,
    role,
    storage,
    trusted_proxies = [],
    metrics_from = METRICS_FROM,
    metrics_port,
    metrics_host,
    drain_seconds = 0,
    shutdown_delay_seconds = role === 'api' ? API_SHUTDOWN_DELAY_SECONDS : 0,
  } = settings;
  return {
    stateDir: state_dir ?? stateDir,
    ...(database === undefined ? {} : { database }),
    ...(role === undefined ? {} : { role }),
    ...(storage === undefined ? {} : { storage }),
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    trustedProxies: trusted_proxies,
    metricsFrom: metrics_from,
    ...(metrics_port === undefined ? {} : { metricsPort: metrics_port }),
    ...(metrics_host === undefined ? {} : { metricsHost: metrics_host }),
    drainMs: drain_seconds * 1000,
    shutdownDelayMs: shutdown_delay_seconds * 1000,
    config: configOf(settings),
  };
}

/** Converts settings to the configuration of the service. */
function configOf(settings: Settings): ServiceConfig {
  const base = DEFAULT_CONFIG;
  const { rate, plan_ends_at: planEndsAt, job_deadline_hours: hours, stage_cache_mib: mib } = settings;
  return {
    headerPrefix: settings.header_prefix ?? base.headerPrefix,
    publicOrigin: settings.public_origin ?? base.publicOrigin,
    openingCredits: settings.opening_credits ?? base.openingCredits,
    prices: { ...base.prices, ...settings.prices },
    concurrentTasks: settings.concurrent_tasks ?? base.concurrentTasks,
    rate: rate === undefined ? base.rate : { requests: rate.requests, windowSeconds: rate.window_seconds },
    planEndsAt: planEndsAt === undefined ? base.planEndsAt : parseInstant(planEndsAt ?? ''),
    workers: settings.workers ?? base.workers,
    webhookSlots: settings.webhook_slots ?? base.webhookSlots,
    allowLoopback: settings.allow_loopback ?? base.allowLoopback,
    attempts: settings.attempts ?? base.attempts,
    jobDeadlineMs: hours === undefined ? base.jobDeadlineMs : hours * HOUR_MS,
    stageCacheBytes: mib === undefined ? base.stageCacheBytes : mib * MIB,
  };
}
