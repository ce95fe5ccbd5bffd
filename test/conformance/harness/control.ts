/**
 * The control interface of services on this machine, as `vloc serve --control` has it: gives the rules the access of an
 * operator. Uses nothing of the product.
 */
import assert from 'node:assert/strict';
import { JOB_KINDS } from '../operations.ts';
import {
  type Admin,
  afterRule,
  describeService,
  type KeyRules,
  type Means,
  type ServiceOptions,
  type ServiceUnderTest,
  type Supplies,
} from '../service.ts';
import type { Receiver } from '../webhooks.ts';
import { send } from '../wire/exchange.ts';
import { listAt, numberAt, show, textAt, valueAt } from '../wire/json.ts';
import type { Credentials } from '../wire/sign.ts';

/** Address and token of a control interface. */
interface ControlAccess {
  /** Scheme, host and port. */
  readonly url: string;
  readonly token: string;
}

/** A new service with its control interface. */
export interface StartedService {
  readonly baseUrl: string;
  readonly control: ControlAccess;
  readonly credentials: Credentials;
  readonly webhookSecret: string;
  close(): Promise<void>;
}

export interface ControlledOptions
  extends Pick<ServiceOptions, 'headerPrefix' | 'strict' | 'languages' | 'patience'> {
  /** Starts a service with an account of its own. */
  readonly start: (means: Means) => Promise<StartedService>;
  readonly supplies: Pick<Supplies, 'jobs' | 'media' | 'mediaUrl' | 'ffmpeg'>;
  /** Where webhooks arrive; null: nowhere. */
  readonly receiver: Receiver | null;
}

export interface ControlledRun {
  /** A new service with plenty of credits. */
  readonly service: ServiceUnderTest;
  /** Closes all services of the run. */
  close(): Promise<void>;
}

/** Starts the service of a run, which can start others for single rules. */
export async function openControlled(options: ControlledOptions): Promise<ControlledRun> {
  const opened = new Set<StartedService>();
  const shut = async (started: StartedService) => {
    if (opened.delete(started)) await started.close();
  };
  const open = async (means: Means = {}): Promise<ServiceUnderTest> => {
    const started = await options.start(means);
    opened.add(started);
    afterRule(() => shut(started));
    return describeStarted(options, started, open);
  };
  return {
    service: await open(),
    async close() {
      for (const started of opened) await shut(started);
    },
  };
}

async function describeStarted(
  options: ControlledOptions,
  { baseUrl, control, credentials, webhookSecret }: StartedService,
  open: Admin['open'],
): Promise<ServiceUnderTest> {
  const { supplies, receiver } = options;
  const clock = { offsetMs: 0 };
  const admin = createAdmin(control, clock, open);
  return describeService({
    ...options,
    baseUrl,
    credentials,
    supplies: {
      ...supplies,
      otherKey: await admin.issueKey(),
      webhooks: receiver === null ? null : { receiver, secret: webhookSecret },
    },
    admin,
    now: () => Date.now() + clock.offsetMs,
  });
}

function createAdmin(access: ControlAccess, clock: { offsetMs: number }, open: Admin['open']): Admin {
  const ask = (method: string, path: string, fields?: object) => call(access, method, path, fields);
  return {
    async issueKey(rules = {}) {
      const made = await ask('POST', '/keys', fieldsOf(rules));
      return { key: textAt(made, 'key'), secret: textAt(made, 'secret') };
    },
    async changeKey({ key }, rules) {
      await ask('PATCH', `/keys/${key}`, { ...ANY_USE, ...fieldsOf(rules) });
    },
    async grantCredits(credits, expiresAt) {
      const expiry = expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() };
      await ask('POST', '/credits', { credits, ...expiry });
    },
    async advance(ms) {
      const answer = await ask('POST', '/clock/advance', { seconds: ms / 1000 });
      // Null while it is frozen; the time of the answer would make a slow answer a slow clock.
      const offset = valueAt(answer, 'offset_seconds');
      clock.offsetMs =
        offset === null
          ? Date.parse(textAt(answer, 'now')) - Date.now()
          : Math.round(numberAt(answer, 'offset_seconds') * 1000);
    },
    async freeze() {
      return Date.parse(textAt(await ask('POST', '/clock/freeze'), 'now'));
    },
    async webhooks() {
      return listAt(await ask('GET', '/webhooks?status=all'), 'data').map((webhook) => {
        const next = valueAt(webhook, 'next_attempt_at');
        return {
          createdAt: Date.parse(textAt(webhook, 'created_at')),
          nextAttemptAt: next === null ? null : Date.parse(textAt(webhook, 'next_attempt_at')),
        };
      });
    },
    async holdWork() {
      await ask('POST', '/media/hold');
    },
    async letWorkGo() {
      await ask('POST', '/media/release');
    },
    async failWork(...failures) {
      for (const failure of failures) {
        await ask('POST', '/media/fail', failure === 'passing' ? {} : { code: 'NO_SPEECH_DETECTED' });
      }
    },
    open,
  };
}

const ANY_USE = { permissions: JOB_KINDS, monthly_quota_credits: null, allowed_addresses: [] };

function fieldsOf({ permissions, monthlyLimitCredits, allowedAddresses }: KeyRules): object {
  return {
    ...(permissions === undefined ? {} : { permissions }),
    ...(monthlyLimitCredits === undefined ? {} : { monthly_quota_credits: monthlyLimitCredits }),
    ...(allowedAddresses === undefined ? {} : { allowed_addresses: allowedAddresses }),
  };
}

/** Sends one request to the control interface. Fails if it is refused. */
async function call(
  { url, token }: ControlAccess,
  method: string,
  path: string,
  fields?: object,
): Promise<unknown> {
  const answer = await send({
    method,
    origin: url,
    target: path,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(fields === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: fields === undefined ? null : Buffer.from(JSON.stringify(fields)),
  });
  if (answer.status === 200) return answer.json;
  assert.fail(`the control interface answered ${method} ${path} with ${answer.status}: ${show(answer.json)}`);
}
