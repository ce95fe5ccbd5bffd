/** Handlers of the control operations. */

import type { InferOutput } from 'valibot';
import { errorCode } from '../../base/system-error.ts';
import { type JobErrorCode, JobFailure } from '../../protocol/job-failure.ts';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { toCredits } from '../../protocol/metering.ts';
import {
  changeKey,
  describeKeys,
  issueKey,
  type KeyDescription,
  type KeyRules,
  revokeKey,
  rotateKey,
} from '../auth/keys.ts';
import { formatInstant, systemClock } from '../clock.ts';
import type { ServiceContext } from '../context.ts';
import { grantCredits, readAccount } from '../credits/account.ts';
import { type Fault, FaultError } from '../faults/fault.ts';
import { Refusal, refuseField } from '../http/refusal.ts';
import { readProvenance } from '../jobs/rows.ts';
import { isLive, type NodeRow, readNodes } from '../nodes.ts';
import { LEASE_MS } from '../running/leases.ts';
import { readFields } from './fields.ts';
import { CONTROL_OPERATIONS, type ControlName } from './operations.ts';
import type { Controlled } from './start.ts';
import { listWebhooks, resendWebhook } from './webhooks.ts';

interface ControlCall<N extends ControlName> {
  readonly controlled: Controlled;
  /** The parameter in the path; empty if it has none. */
  readonly id: string;
  readonly fields: InferOutput<(typeof CONTROL_OPERATIONS)[N]['fields']>;
}

type Handlers = { readonly [N in ControlName]: (call: ControlCall<N>) => unknown };

export const HANDLERS: Handlers = {
  'clock.show': ({ controlled }) => describeClock(controlled),
  async 'clock.advance'({ controlled, fields }) {
    const ms = Math.round(fields.seconds * 1000);
    if (controlled.clock.now() + ms > LATEST_MS) throw refuseField('seconds', 'leads beyond the year 9000');
    await refuseOtherNodes(controlled.context);
    controlled.clock.advance(ms);
    return describeClock(controlled);
  },
  async 'clock.freeze'({ controlled }) {
    await refuseOtherNodes(controlled.context);
    controlled.clock.freeze();
    return describeClock(controlled);
  },
  'clock.resume'({ controlled }) {
    controlled.clock.resume();
    return describeClock(controlled);
  },

  'faults.list': ({ controlled }) => listFaults(controlled),
  'faults.add'({ controlled, fields }) {
    addFaults(controlled, [toFault(fields)], () => '');
    return listFaults(controlled);
  },
  'faults.set'({ controlled, fields }) {
    const pointerOf = (at: number) => `faults/${at}/`;
    const faults = fields.faults.map((fault, at) =>
      toFault(readFields(CONTROL_OPERATIONS['faults.add'].fields, fault, pointerOf(at))),
    );
    const before = controlled.faults.pending();
    controlled.faults.clear();
    try {
      addFaults(controlled, faults, pointerOf);
    } catch (error) {
      controlled.faults.clear();
      controlled.faults.add(...before);
      throw error;
    }
    return listFaults(controlled);
  },
  'faults.clear'({ controlled }) {
    controlled.faults.clear();
    return listFaults(controlled);
  },

  'media.show': ({ controlled }) => controlled.gate.state(),
  'media.hold'({ controlled: { gate } }) {
    gate.hold();
    return gate.state();
  },
  'media.release'({ controlled: { gate } }) {
    gate.release();
    return gate.state();
  },
  'media.fail'({ controlled: { gate }, fields: { times = 1, code, message } }) {
    if (times > MOST_FAILURES) throw refuseField('times', `at most ${MOST_FAILURES}`);
    gate.failNext(Array.from({ length: times }, () => mediaError(code, message)));
    return gate.state();
  },

  'credits.show': ({ controlled }) => describeAccount(controlled.context),
  async 'credits.grant'({ controlled: { context }, fields: { credits, expires_at: expiresAt = null } }) {
    const { store, clock, makeId } = context;
    try {
      await store.transaction((tx) => grantCredits(tx, { credits, expiresAt }, clock.now(), makeId));
    } catch (error) {
      if (error instanceof RangeError) throw refuseField('credits', error.message);
      throw error;
    }
    return describeAccount(context);
  },

  'keys.list': async ({ controlled: { context } }) =>
    asList((await describeKeys(context.store)).map((key) => describeKey(context, key))),
  async 'keys.create'({ controlled: { context }, fields }) {
    const { store, clock, randomBytes, rate } = context;
    const issued = await withAddresses(() => issueKey(store, rulesOf(fields), clock.now(), randomBytes));
    if (fields.rate !== undefined) rate.setRule(issued.key, fields.rate);
    return describeSecrets(issued);
  },
  async 'keys.change'({ controlled: { context }, id, fields }) {
    const { store, clock, rate } = context;
    const key = await findKey(context, id);
    await withAddresses(() =>
      changeKey(store, id, { ...currentRules(key), ...rulesOf(fields) }, clock.now()),
    );
    if (fields.rate !== undefined) rate.setRule(id, fields.rate);
    return describeKey(context, await findKey(context, id));
  },
  async 'keys.disable'({ controlled: { context }, id }) {
    await findKey(context, id);
    await revokeKey(context.store, id, context.clock.now());
    return describeKey(context, await findKey(context, id));
  },
  async 'keys.enable'({ controlled: { context }, id }) {
    const rules = { ...currentRules(await findKey(context, id)), revoked: false };
    await changeKey(context.store, id, rules, context.clock.now());
    return describeKey(context, await findKey(context, id));
  },
  async 'keys.rotate'({ controlled: { context }, id, fields: { only = null } }) {
    const rotated = await rotateKey(context.store, id, only, context.randomBytes);
    if (rotated === undefined) throw unknown('key', id);
    return describeSecrets(rotated);
  },

  async 'webhooks.list'({ controlled: { context }, fields: { status = 'undelivered' } }) {
    const { data, more } = await listWebhooks(context, status);
    return { ...asList(data), has_more: more };
  },
  async 'webhooks.resend'({ controlled: { context }, id }) {
    const webhook = await resendWebhook(context, id);
    if (webhook === null) throw unknown('webhook', id);
    return webhook;
  },

  async 'jobs.provenance'({ controlled: { context }, id }) {
    const provenance = await readProvenance(context.store, id);
    if (provenance === undefined) throw unknown('job', id);
    return { job_id: id, engines: provenance?.engines ?? [], cues: provenance?.cues ?? [] };
  },
};

/** RFC 3339 ends with the year 9999, and records expire after this time. */
const LATEST_MS = Date.UTC(9000, 0);

/** Far more attempts than a test makes. */
const MOST_FAILURES = 1000;

function asList(data: readonly object[]) {
  return { object: 'list', data, has_more: false, next_cursor: null };
}

function unknown(what: string, id: string): Refusal {
  return new Refusal('RESOURCE_NOT_FOUND', `there is no ${what} "${id.slice(0, 128)}"`);
}

/** The clock of a process cannot be moved against those of others: they would take over its jobs, or it theirs. */
async function refuseOtherNodes({ store, clock, isShared }: ServiceContext): Promise<void> {
  if (!isShared) return;
  // This node by its own clock, the others by theirs. What a killed node with a moved clock left does not count.
  const times = [clock.now(), systemClock.now()];
  const isNow = (node: NodeRow) => times.some((now) => isLive(node, now) && node.seenAt < now + LEASE_MS);
  const count = (await readNodes(store)).filter(isNow).length;
  if (count < 2) return;
  throw new Refusal(
    'INVALID_REQUEST',
    `${count} nodes use the database, and only the clock of this one would move; stop the others first`,
  );
}

function describeClock({ clock }: Controlled) {
  const offset = clock.offset();
  return {
    now: formatInstant(clock.now()),
    frozen: clock.isFrozen(),
    offset_seconds: offset === null ? null : offset / 1000,
  };
}

const toCamel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const toSnake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const rename = (object: object, change: (name: string) => string) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [change(name), value]));

/** `checkFault` checks it before it is used. */
function toFault(fields: object): Fault {
  return rename(fields, toCamel) as Fault;
}

function addFaults({ faults }: Controlled, added: readonly Fault[], pointerOf: (at: number) => string): void {
  for (const [at, fault] of added.entries()) {
    try {
      faults.add(fault);
    } catch (error) {
      if (!(error instanceof FaultError)) throw error;
      throw refuseField(pointerOf(at) + toSnake(error.field), error.rule.replaceAll(/\w+/g, toSnakeWord));
    }
  }
}

/** Rules name fields and routes; the methods of routes stay in capitals. */
const toSnakeWord = (word: string) => (/^[a-z]+[A-Z]/.test(word) ? toSnake(word) : word);

function listFaults({ faults }: Controlled) {
  return asList(
    faults.pending().map((fault) => ({
      ...rename(fault, toSnake),
      times: fault.times === Number.POSITIVE_INFINITY ? 'always' : fault.times,
    })),
  );
}

function mediaError(code: JobErrorCode | undefined, message = 'this failure was scripted'): Error {
  return code === undefined ? new Error(message) : new JobFailure(code, message);
}

async function describeAccount({ store, clock }: ServiceContext) {
  const { available, balance, reserved } = await readAccount(store, clock.now());
  return {
    available_credits: toCredits(available),
    balance_credits: toCredits(balance),
    reserved_credits: toCredits(reserved),
  };
}

async function findKey({ store }: ServiceContext, id: string): Promise<KeyDescription> {
  const key = (await describeKeys(store)).find(({ key: each }) => each === id);
  if (key === undefined) throw unknown('key', id);
  return key;
}

function describeKey({ rate }: ServiceContext, key: KeyDescription) {
  const rule = rate.ruleOf(key.key);
  return {
    key: key.key,
    permissions: key.permissions,
    monthly_quota_credits: key.monthlyLimitCredits,
    allowed_addresses: key.allowedAddresses,
    rate: rule === null ? null : { requests: rule.requests, window_seconds: rule.windowSeconds },
    created_at: formatInstant(key.createdAt),
    revoked_at: key.revokedAt === null ? null : formatInstant(key.revokedAt),
  };
}

type RuleFields = ControlCall<'keys.change'>['fields'];

function rulesOf({
  permissions,
  monthly_quota_credits: limit,
  allowed_addresses: addresses,
}: RuleFields): KeyRules {
  if (limit !== undefined && limit !== null && limit < 0) {
    throw refuseField('monthly_quota_credits', 'must not be negative');
  }
  return {
    ...(permissions === undefined ? {} : { permissions }),
    ...(limit === undefined ? {} : { monthlyLimitCredits: limit }),
    ...(addresses === undefined ? {} : { allowedAddresses: addresses }),
  };
}

function currentRules(key: KeyDescription): KeyRules {
  return {
    permissions: JOB_KIND_NAMES.filter((kind) => key.permissions.includes(kind)),
    monthlyLimitCredits: key.monthlyLimitCredits,
    allowedAddresses: key.allowedAddresses,
    revoked: key.revokedAt !== null,
  };
}

/** Runs a change of a key, whose addresses are checked by Node. */
async function withAddresses<Result>(change: () => Promise<Result>): Promise<Result> {
  try {
    return await change();
  } catch (error) {
    if (!['ERR_INVALID_ADDRESS', 'ERR_OUT_OF_RANGE'].includes(errorCode(error))) throw error;
    throw refuseField(
      'allowed_addresses',
      'must be addresses and networks such as 192.0.2.7 or 192.0.2.0/24',
    );
  }
}

function describeSecrets({
  key,
  secret,
  webhookSecret,
}: {
  key: string;
  secret: string;
  webhookSecret: string;
}) {
  return { key, secret, webhook_secret: webhookSecret };
}
