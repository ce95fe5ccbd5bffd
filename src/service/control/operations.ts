/**
 * The control interface of `vloc serve --control`, for tests of clients: the one table behind its routes, validation
 * and documentation. It is not part of the API, and only this machine can reach it.
 */

import * as v from 'valibot';
import { JOB_ERROR_CODES, type JobErrorCode } from '../../protocol/job-failure.ts';
import {
  type ControlFields,
  choiceOf,
  FAULT_FIELDS,
  FORMS,
  KEY_FIELDS,
  optionalField,
  requiredField,
} from './fields.ts';

export interface ControlOperation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The parameter of the path is in braces. */
  readonly path: string;
  readonly summary: string;
  /** Fields of the body; of the query for GET. */
  readonly fields: ControlFields;
}

const JOB_ERRORS = Object.keys(JOB_ERROR_CODES) as JobErrorCode[]; // the keys of the table
const NO_FIELDS = v.object({});

export const CONTROL_OPERATIONS = {
  'clock.show': {
    method: 'GET',
    path: '/clock',
    summary: 'show the clock of the service',
    fields: NO_FIELDS,
  },
  'clock.advance': {
    method: 'POST',
    path: '/clock/advance',
    summary: 'move the clock forward; everything that becomes due happens',
    fields: v.object({ seconds: requiredField(FORMS.seconds, 'seconds to move') }),
  },
  'clock.freeze': {
    method: 'POST',
    path: '/clock/freeze',
    summary: 'stop the clock; `POST /clock/advance` still moves it',
    fields: NO_FIELDS,
  },
  'clock.resume': {
    method: 'POST',
    path: '/clock/resume',
    summary: 'restart a stopped clock from the time that it shows',
    fields: NO_FIELDS,
  },
  'faults.list': {
    method: 'GET',
    path: '/faults',
    summary: 'list faults that have not happened yet',
    fields: NO_FIELDS,
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
    fields: v.object({
      faults: requiredField(FORMS.objects, 'faults, each with the fields of `POST /faults`'),
    }),
  },
  'faults.clear': {
    method: 'DELETE',
    path: '/faults',
    summary: 'remove all faults',
    fields: NO_FIELDS,
  },
  'media.show': {
    method: 'GET',
    path: '/media',
    summary: 'show whether media work is held, and pending failures',
    fields: NO_FIELDS,
  },
  'media.hold': {
    method: 'POST',
    path: '/media/hold',
    summary: 'hold media work that starts from now on',
    fields: NO_FIELDS,
  },
  'media.release': {
    method: 'POST',
    path: '/media/release',
    summary: 'let held media work continue',
    fields: NO_FIELDS,
  },
  'media.fail': {
    method: 'POST',
    path: '/media/fail',
    summary: 'make the next attempts at media work fail',
    fields: v.object({
      times: optionalField(FORMS.count, 'number of attempts (default: 1)'),
      code: optionalField(
        choiceOf(JOB_ERRORS),
        'error code of the job (default: none, an internal error that is retried)',
      ),
      message: optionalField(FORMS.text, 'message of the error'),
    }),
  },
  'credits.show': {
    method: 'GET',
    path: '/credits',
    summary: 'show the credits of the account, over all keys',
    fields: NO_FIELDS,
  },
  'credits.grant': {
    method: 'POST',
    path: '/credits',
    summary: 'add credits to the account',
    fields: v.object({
      credits: requiredField(FORMS.number, 'credits to add, above 0'),
      expires_at: optionalField(FORMS.instant, 'time when they expire (default: never)'),
    }),
  },
  'keys.list': {
    method: 'GET',
    path: '/keys',
    summary: 'list keys and their rules',
    fields: NO_FIELDS,
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
    fields: NO_FIELDS,
  },
  'keys.enable': {
    method: 'POST',
    path: '/keys/{key}/enable',
    summary: 'accept requests of a disabled key again',
    fields: NO_FIELDS,
  },
  'keys.rotate': {
    method: 'POST',
    path: '/keys/{key}/rotate',
    summary: 'replace the secrets of a key and show the new ones',
    fields: v.object({
      only: optionalField(choiceOf(['secret', 'webhook_secret']), 'replace only this one (default: both)'),
    }),
  },
  'webhooks.list': {
    method: 'GET',
    path: '/webhooks',
    summary: 'list webhooks that were not delivered',
    fields: v.object({
      status: optionalField(
        choiceOf(['undelivered', 'pending', 'abandoned', 'delivered', 'all']),
        'state of the webhooks (default: undelivered, which is pending and abandoned)',
      ),
    }),
  },
  'webhooks.resend': {
    method: 'POST',
    path: '/webhooks/{id}/resend',
    summary: 'send a webhook now, even if it was delivered',
    fields: NO_FIELDS,
  },
  'jobs.provenance': {
    method: 'GET',
    path: '/jobs/{job_id}/provenance',
    summary: 'show the engines of a finished job, and the cues whose speech was changed to fit',
    fields: NO_FIELDS,
  },
} as const satisfies Record<string, ControlOperation>;

export type ControlName = keyof typeof CONTROL_OPERATIONS;

/** An operation with its name. */
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
