/**
 * The control interface of `vloc serve --control`, for tests of clients: the one table behind its routes, validation, commands
 * and documentation. It is not part of the API, and only this machine can reach it.
 */

import { JOB_ERROR_CODES, type JobErrorCode } from '../../protocol/job-failure.ts';
import { type ControlField, FAULT_FIELDS, KEY_FIELDS } from './field-types.ts';

/** A file in the state folder with the address and the token of the running control interface: `ControlAddress` as JSON. */
export const CONTROL_FILE = 'control.json';

export interface ControlAddress {
  /** Scheme, host and port. */
  readonly url: string;
  /** Sent with every request as `Authorization: Bearer`. */
  readonly token: string;
}

/** The types of answers: all members, the columns of tables, and what `--output id` prints. */
export const CONTROL_RESOURCES = {
  clock: { plural: 'clocks', id: 'now', columns: ['now', 'frozen', 'offset_seconds'] },
  fault: {
    plural: 'faults',
    id: 'on',
    columns: ['on', 'times', 'status', 'drop', 'cut_after_bytes', 'delay_ms'],
    more: ['when', 'code', 'retry_after', 'body', 'headers'],
  },
  media: { plural: 'states', id: 'held', columns: ['held', 'waiting', 'failures'] },
  account: {
    plural: 'balances',
    id: 'available_credits',
    columns: ['available_credits', 'balance_credits', 'reserved_credits'],
  },
  key: {
    plural: 'keys',
    id: 'key',
    columns: ['key', 'permissions', 'monthly_quota_credits', 'allowed_addresses', 'rate', 'revoked_at'],
    more: ['created_at'],
  },
  newKey: {
    plural: 'keys',
    id: 'key',
    columns: ['key', 'secret', 'webhook_secret'],
  },
  webhook: {
    plural: 'webhooks',
    id: 'id',
    columns: ['id', 'status', 'type', 'job_id', 'attempts', 'next_attempt_at', 'url'],
    more: ['key', 'created_at', 'ended_at'],
  },
  provenance: { plural: 'jobs', id: 'job_id', columns: ['job_id', 'engines', 'cues'] },
  workspace: { plural: 'workspaces', id: 'id', columns: ['id', 'base_url', 'control_url'] },
  newWorkspace: {
    plural: 'workspaces',
    id: 'id',
    columns: ['id', 'base_url', 'control_url', 'key', 'secret', 'webhook_secret'],
  },
} as const satisfies Record<string, ControlResource>;

export interface ControlResource {
  readonly plural: string;
  readonly id: string;
  readonly columns: readonly string[];
  readonly more?: readonly string[];
}

export interface ControlOperation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The parameter of the path is in braces; the command takes it as its operand. */
  readonly path: string;
  readonly summary: string;
  /** Of the body; of the query for GET. */
  readonly fields: Readonly<Record<string, ControlField>>;
  readonly answer: keyof typeof CONTROL_RESOURCES;
  /** The answer is a list. */
  readonly list?: true;
  /** True for what exists only once, outside the workspaces. */
  readonly rootOnly?: true;
  /** What follows the words of the command, and what that does. */
  readonly example: { readonly args: string; readonly explains: string };
}

const JOB_ERRORS = Object.keys(JOB_ERROR_CODES) as JobErrorCode[]; // the keys of the table
const FORM_OF_FAULT = `JSON array of faults, each with the fields of \`faults add\``;

export const CONTROL_OPERATIONS = {
  'clock.show': {
    method: 'GET',
    path: '/clock',
    summary: 'show the clock of the service',
    fields: {},
    answer: 'clock',
    example: { args: '--output id', explains: 'the time of the service' },
  },
  'clock.advance': {
    method: 'POST',
    path: '/clock/advance',
    summary: 'move the clock forward; everything that becomes due happens',
    fields: {
      seconds: {
        type: 'seconds',
        required: true,
        operand: true,
        help: 'seconds to move; the command also takes a duration such as 90s, 2h or 7d',
      },
    },
    answer: 'clock',
    example: { args: '25h', explains: 'let the download links of finished jobs expire' },
  },
  'clock.freeze': {
    method: 'POST',
    path: '/clock/freeze',
    summary: 'stop the clock; `clock advance` still moves it',
    fields: {},
    answer: 'clock',
    example: { args: '', explains: 'stop the clock, so that a test can compare exact times' },
  },
  'clock.resume': {
    method: 'POST',
    path: '/clock/resume',
    summary: 'restart a stopped clock from the time that it shows',
    fields: {},
    answer: 'clock',
    example: { args: '', explains: 'end `clock freeze`' },
  },
  'faults.list': {
    method: 'GET',
    path: '/faults',
    summary: 'list faults that have not happened yet',
    fields: {},
    answer: 'fault',
    list: true,
    example: { args: '', explains: 'the faults that the next requests will meet' },
  },
  'faults.add': {
    method: 'POST',
    path: '/faults',
    summary: 'make the next requests to a route fail',
    fields: FAULT_FIELDS,
    answer: 'fault',
    list: true,
    example: {
      args: '--on "POST /dubbings" --status 503 --retry-after 2 --times 2',
      explains: 'refuse the next two dubbings',
    },
  },
  'faults.set': {
    method: 'PUT',
    path: '/faults',
    summary: 'replace all faults',
    fields: { faults: { type: 'objects', required: true, operand: true, help: FORM_OF_FAULT } },
    answer: 'fault',
    list: true,
    example: {
      args: `'[{"on": "POST /dubbings", "drop": "after"}]'`,
      explains: 'lose the answer to the next dubbing; @file reads the array from a file',
    },
  },
  'faults.clear': {
    method: 'DELETE',
    path: '/faults',
    summary: 'remove all faults',
    fields: {},
    answer: 'fault',
    list: true,
    example: { args: '', explains: 'all requests are answered correctly again' },
  },
  'media.show': {
    method: 'GET',
    path: '/media',
    summary: 'show whether media work is held, and pending failures',
    fields: {},
    answer: 'media',
    example: { args: '', explains: 'the number of jobs that are held' },
  },
  'media.hold': {
    method: 'POST',
    path: '/media/hold',
    summary: 'hold media work that starts from now on',
    fields: {},
    answer: 'media',
    example: { args: '', explains: 'keep new jobs in processing, for example to cancel one' },
  },
  'media.release': {
    method: 'POST',
    path: '/media/release',
    summary: 'let held media work continue',
    fields: {},
    answer: 'media',
    example: { args: '', explains: 'end `media hold`' },
  },
  'media.fail': {
    method: 'POST',
    path: '/media/fail',
    summary: 'make the next attempts at media work fail',
    fields: {
      times: { type: 'count', help: 'number of attempts (default: 1)' },
      code: {
        type: 'choice',
        choices: JOB_ERRORS,
        help: 'error code of the job (default: none, an internal error that is retried)',
      },
      message: { type: 'text', help: 'message of the error' },
    },
    answer: 'media',
    example: { args: '--code NO_SPEECH_DETECTED', explains: 'make the next job fail permanently' },
  },
  'credits.show': {
    method: 'GET',
    path: '/credits',
    summary: 'show the credits of the account, over all keys',
    fields: {},
    answer: 'account',
    example: { args: '--output id', explains: 'only the available credits' },
  },
  'credits.grant': {
    method: 'POST',
    path: '/credits',
    summary: 'add credits to the account',
    fields: {
      credits: { type: 'number', required: true, operand: true, help: 'credits to add, above 0' },
      expires_at: { type: 'instant', help: 'time when they expire (default: never)' },
    },
    answer: 'account',
    example: { args: '50 --expires-at 2030-01-01T00:00:00Z', explains: 'credits that expire' },
  },
  'keys.list': {
    method: 'GET',
    path: '/keys',
    summary: 'list keys and their rules',
    fields: {},
    answer: 'key',
    list: true,
    example: { args: '', explains: 'all keys, including disabled ones' },
  },
  'keys.create': {
    method: 'POST',
    path: '/keys',
    summary: 'create a key and show its secrets once',
    fields: KEY_FIELDS,
    answer: 'newKey',
    example: {
      args: '--permissions dubbing --rate 2/60',
      explains: 'a key for two dubbing requests a minute',
    },
  },
  'keys.change': {
    method: 'PATCH',
    path: '/keys/{key}',
    summary: 'change the given rules of a key',
    fields: KEY_FIELDS,
    answer: 'key',
    example: {
      args: 'vk_Zm9vYmFyYmF6cXV4 --monthly-quota-credits 3',
      explains: 'leave three credits for this month',
    },
  },
  'keys.disable': {
    method: 'POST',
    path: '/keys/{key}/disable',
    summary: 'refuse all requests of a key',
    fields: {},
    answer: 'key',
    example: { args: 'vk_Zm9vYmFyYmF6cXV4', explains: 'requests with it are answered with 401' },
  },
  'keys.enable': {
    method: 'POST',
    path: '/keys/{key}/enable',
    summary: 'accept requests of a disabled key again',
    fields: {},
    answer: 'key',
    example: { args: 'vk_Zm9vYmFyYmF6cXV4', explains: 'end `keys disable`' },
  },
  'keys.rotate': {
    method: 'POST',
    path: '/keys/{key}/rotate',
    summary: 'replace the secrets of a key and show the new ones',
    fields: {
      only: {
        type: 'choice',
        choices: ['secret', 'webhook_secret'],
        help: 'replace only this one (default: both)',
      },
    },
    answer: 'newKey',
    example: {
      args: 'vk_Zm9vYmFyYmF6cXV4 --only webhook_secret',
      explains: 'later webhooks are signed with the new secret',
    },
  },
  'webhooks.list': {
    method: 'GET',
    path: '/webhooks',
    summary: 'list webhooks that were not delivered',
    fields: {
      status: {
        type: 'choice',
        choices: ['undelivered', 'pending', 'abandoned', 'delivered', 'all'],
        help: 'state of the webhooks (default: undelivered, which is pending and abandoned)',
      },
    },
    answer: 'webhook',
    list: true,
    example: { args: '--status abandoned --output id', explains: 'the ids of webhooks that are not retried' },
  },
  'webhooks.resend': {
    method: 'POST',
    path: '/webhooks/{id}/resend',
    summary: 'send a webhook now, even if it was delivered',
    fields: {},
    answer: 'webhook',
    example: {
      args: 'evt_01k9x2m4n6p8q0r2s4t6v8w0y2',
      explains: 'the same event again, with a new signature',
    },
  },
  'jobs.provenance': {
    method: 'GET',
    path: '/jobs/{job_id}/provenance',
    summary: 'show the engines of a finished job, and the cues whose speech was changed to fit',
    fields: {},
    answer: 'provenance',
    example: { args: 'dub_01k9x2m4n6p8q0r2s4t6v8w0y2', explains: 'the engine that spoke a dub' },
  },
  'workspaces.list': {
    method: 'GET',
    path: '/workspaces',
    summary: 'list temporary workspaces',
    fields: {},
    answer: 'workspace',
    list: true,
    rootOnly: true,
    example: { args: '', explains: 'all open workspaces' },
  },
  'workspaces.create': {
    method: 'POST',
    path: '/workspaces',
    summary: 'open a temporary workspace: its own account, keys, clock and address',
    fields: {
      settings: { type: 'object', help: 'settings as in service.json, except address and folders' },
    },
    answer: 'newWorkspace',
    rootOnly: true,
    example: {
      args: `--settings '{"opening_credits": 5, "allow_loopback": true}'`,
      explains: 'an account with five credits, for one test',
    },
  },
  'workspaces.close': {
    method: 'DELETE',
    path: '/workspaces/{id}',
    summary: 'close a temporary workspace and delete its data',
    fields: {},
    answer: 'workspace',
    rootOnly: true,
    example: { args: 'ws_0a1b2c3d4e5f', explains: 'its address stops answering' },
  },
} as const satisfies Record<string, ControlOperation>;

export type ControlName = keyof typeof CONTROL_OPERATIONS;

/** Groups of operations, as commands and documentation show them. */
export const CONTROL_GROUPS = {
  clock: 'read and move the clock of the service',
  faults: 'make requests fail on purpose',
  media: 'hold media work, or make it fail',
  credits: 'read and grant credits',
  keys: 'create keys and change their rules and secrets',
  webhooks: 'list and resend webhooks',
  jobs: 'show the engines of jobs',
  workspaces: 'open temporary accounts for tests',
} as const satisfies Record<string, string>;

/** An operation with its name and the words of its command. */
export interface NamedOperation extends ControlOperation {
  readonly name: ControlName;
  readonly group: string;
  readonly verb: string;
}

/** All operations, in the order of the table. */
export const CONTROL_LIST: readonly NamedOperation[] = Object.entries<ControlOperation>(
  CONTROL_OPERATIONS,
).map(([name, operation]) => {
  const [group = '', verb = ''] = name.split('.');
  return { ...operation, name: name as ControlName, group, verb }; // a key of the table
});

/** The name of the parameter in the path; null if it has none. */
export function parameterOf({ path }: Pick<ControlOperation, 'path'>): string | null {
  return /\{(\w+)\}/.exec(path)?.[1] ?? null;
}
