/**
 * The control interface of a service on this machine, as `vloc serve --control` has it: opens workspaces for the
 * rules, with the access of an operator. Uses nothing of the product.
 */
import assert from 'node:assert/strict';
import { JOB_KINDS } from './operations.ts';
import {
  type Admin,
  afterRule,
  describeService,
  type KeyRules,
  type Means,
  type ServiceOptions,
  type ServiceUnderTest,
  type Supplies,
} from './service.ts';
import type { Receiver } from './webhooks.ts';
import { send } from './wire/exchange.ts';
import { listAt, numberAt, show, textAt, valueAt } from './wire/json.ts';

/** Address and token of a control interface. */
interface ControlAccess {
  /** Scheme, host and port; for a workspace also its path. */
  readonly url: string;
  readonly token: string;
}

export interface ControlledOptions
  extends Pick<ServiceOptions, 'headerPrefix' | 'strict' | 'languages' | 'patience'> {
  readonly control: ControlAccess;
  readonly supplies: Pick<Supplies, 'jobs' | 'media' | 'mediaUrl' | 'ffmpeg'>;
  /** Where webhooks arrive; null: nowhere. */
  readonly receiver: Receiver | null;
}

export interface ControlledRun {
  /** A new workspace with plenty of credits. */
  readonly service: ServiceUnderTest;
  /** Closes all workspaces of the run. */
  close(): Promise<void>;
}

/** Opens a workspace for a run. */
export async function openControlled(options: ControlledOptions): Promise<ControlledRun> {
  const { control } = options;
  const opened = new Set<string>();
  const shut = async (id: string) => {
    if (opened.delete(id)) await call(control, 'DELETE', `/workspaces/${id}`);
  };
  const open = async (means: Means = {}): Promise<ServiceUnderTest> => {
    const made = await call(control, 'POST', '/workspaces', {
      settings: settingsOf(means, options.headerPrefix),
    });
    const id = textAt(made, 'id');
    opened.add(id);
    afterRule(() => shut(id));
    return describeWorkspace(options, made, open);
  };
  return {
    service: await open(),
    async close() {
      for (const id of opened) await shut(id);
    },
  };
}

async function describeWorkspace(
  options: ControlledOptions,
  made: unknown,
  open: Admin['open'],
): Promise<ServiceUnderTest> {
  const { supplies, receiver } = options;
  const access = { url: textAt(made, 'control_url'), token: options.control.token };
  const clock = { offsetMs: 0 };
  const admin = createAdmin(access, clock, open);
  const secret = textAt(made, 'webhook_secret');
  return describeService({
    ...options,
    baseUrl: textAt(made, 'base_url'),
    credentials: { key: textAt(made, 'key'), secret: textAt(made, 'secret') },
    supplies: {
      ...supplies,
      otherKey: await admin.issueKey(),
      webhooks: receiver === null ? null : { receiver, secret },
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

const HOUR_SECONDS = 3600;

function settingsOf({ credits, planEnded, requests, idle, loopback }: Means, headerPrefix: string): object {
  return {
    header_prefix: headerPrefix,
    allow_loopback: loopback === true,
    ...(credits === undefined ? {} : { opening_credits: credits }),
    // Any time in the past.
    ...(planEnded === true ? { plan_ends_at: '2001-01-01T00:00:00Z' } : {}),
    ...(requests === undefined ? {} : { rate: { requests, window_seconds: HOUR_SECONDS } }),
    ...(idle === true ? { workers: 0 } : {}),
  };
}

/** Sends one request to the control interface. Fails if it is refused. */
async function call(
  { url, token }: ControlAccess,
  method: string,
  path: string,
  fields?: object,
): Promise<unknown> {
  const { origin, pathname } = new URL(url);
  const answer = await send({
    method,
    origin,
    target: pathname.replace(/\/$/, '') + path,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(fields === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: fields === undefined ? null : Buffer.from(JSON.stringify(fields)),
  });
  if (answer.status === 200) return answer.json;
  assert.fail(`the control interface answered ${method} ${path} with ${answer.status}: ${show(answer.json)}`);
}
