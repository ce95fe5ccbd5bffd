/**
 * The control interface of `vloc serve --control`, for tests of clients: the one table behind its routes, validation
 * and documentation. It is not part of the API, and only this machine can reach it.
 */

import { JOB_ERROR_CODES, type JobErrorCode } from '../../protocol/job-failure.ts';
import { type ControlField, FAULT_FIELDS, KEY_FIELDS } from './field-types.ts';

export interface ControlAddress {
  /** Scheme, host and port. */
  readonly url: string;
  /** Sent with every request as `Authorization: Bearer`. */
  readonly token: string;
}

export interface ControlOperation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The parameter of the path is in braces. */
  readonly path: string;
  readonly summary: string;
  /** Of the body; of the query for GET. */
  readonly fields: Readonly<Record<string, ControlField>>;
  /** True for what exists only once, outside the workspaces. */
  readonly rootOnly?: true;
}

const JOB_ERRORS = Object.keys(JOB_ERROR_CODES) as JobErrorCode[]; // the keys of the table
const FORM_OF_FAULT = 'faults, each with the fields of `POST /faults`';

export const CONTROL_OPERATIONS = {
  'clock.show': {
    method: 'GET',
    path: '/clock',
    summary: 'show the clock of the service',
    fields: {},
  },
  'clock.advance': {
    method: 'POST',
    path: '/clock/advance',
    summary: 'move the clock forward; everything that becomes due happens',
    fields: {
      seconds: {
        type: 'seconds',
        required: true,

        help: 'seconds to move',
      },
    },
  },
  'clock.freeze': {
    method: 'POST',
    path: '/clock/freeze',
    summary: 'stop the clock; `POST /clock/advance` still moves it',
    fields: {},
  },
  'clock.resume': {
    method: 'POST',
    path: '/clock/resume',
    summary: 'restart a stopped clock from the time that it shows',
    fields: {},
  },
  'faults.list': {
    method: 'GET',
    path: '/faults',
    summary: 'list faults that have not happened yet',
    fields: {},
  },
  'faults.add': {
    method: 'POST',
    path: '/faults',
    summary: 'make the next requests to a route fail',
    fields: FAULT_FIELDS,
  },
  'faults.set': {
    method: 'PUT',
    path: '/faults',
    summary: 'replace all faults',
    fields: { faults: { type: 'objects', required: true, help: FORM_OF_FAULT } },
  },
  'faults.clear': {
    method: 'DELETE',
    path: '/faults',
    summary: 'remove all faults',
    fields: {},
  },
  'media.show': {
    method: 'GET',
    path: '/media',
    summary: 'show whether media work is held, and pending failures',
    fields: {},
  },
  'media.hold': {
    method: 'POST',
    path: '/media/hold',
    summary: 'hold media work that starts from now on',
    fields: {},
  },
  'media.release': {
    method: 'POST',
    path: '/media/release',
    summary: 'let held media work continue',
    fields: {},
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
  },
  'credits.show': {
    method: 'GET',
    path: '/credits',
    summary: 'show the credits of the account, over all keys',
    fields: {},
  },
  'credits.grant': {
    method: 'POST',
    path: '/credits',
    summary: 'add credits to the account',
    fields: {
      credits: { type: 'number', required: true, help: 'credits to add, above 0' },
      expires_at: { type: 'instant', help: 'time when they expire (default: never)' },
    },
  },
  'keys.list': {
    method: 'GET',
    path: '/keys',
    summary: 'list keys and their rules',
    fields: {},
  },
  'keys.create': {
    method: 'POST',
    path: '/keys',
    summary: 'create a key and show its secrets once',
    fields: KEY_FIELDS,
  },
  'keys.change': {
    method: 'PATCH',
    path: '/keys/{key}',
    summary: 'change the given rules of a key',
    fields: KEY_FIELDS,
  },
  'keys.disable': {
    method: 'POST',
    path: '/keys/{key}/disable',
    summary: 'refuse all requests of a key',
    fields: {},
  },
  'keys.enable': {
    method: 'POST',
    path: '/keys/{key}/enable',
    summary: 'accept requests of a disabled key again',
    fields: {},
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
  },
  'webhooks.resend': {
    method: 'POST',
    path: '/webhooks/{id}/resend',
    summary: 'send a webhook now, even if it was delivered',
    fields: {},
  },
  'jobs.provenance': {
    method: 'GET',
    path: '/jobs/{job_id}/provenance',
    summary: 'show the engines of a finished job, and the cues whose speech was changed to fit',
    fields: {},
  },
  'workspaces.list': {
    method: 'GET',
    path: '/workspaces',
    summary: 'list temporary workspaces',
    fields: {},
    rootOnly: true,
  },
  'workspaces.create': {
    method: 'POST',
    path: '/workspaces',
    summary: 'open a temporary workspace: its own account, keys, clock and address',
    fields: {
      settings: { type: 'object', help: 'settings as in service.json, except address and folders' },
    },
    rootOnly: true,
  },
  'workspaces.close': {
    method: 'DELETE',
    path: '/workspaces/{id}',
    summary: 'close a temporary workspace and delete its data',
    fields: {},
    rootOnly: true,
  },
} as const satisfies Record<string, ControlOperation>;

export type ControlName = keyof typeof CONTROL_OPERATIONS;

/** An operation with its name and the words of its command. */
export interface NamedOperation extends ControlOperation {
  readonly name: ControlName;
}

/** All operations, in the order of the table. */
export const CONTROL_LIST: readonly NamedOperation[] = Object.entries<ControlOperation>(
  CONTROL_OPERATIONS,
).map(([name, operation]) => ({ ...operation, name: name as ControlName })); // a key of the table

/** The name of the parameter in the path; null if it has none. */
export function parameterOf({ path }: Pick<ControlOperation, 'path'>): string | null {
  return /\{(\w+)\}/.exec(path)?.[1] ?? null;
}
