/** The fields of control requests: their types, and the tables that several operations share. */
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';

/** The values of each type of field, as the documentation names them. */
export const FIELD_FORMS = {
  number: 'number',
  count: 'whole number, at least 1',
  times: 'whole number, at least 1, or "always"',
  whole: 'whole number, at least 0',
  seconds: 'number, at least 0',
  text: 'string',
  instant: 'RFC 3339 time',
  choice: 'one of a few strings',
  list: 'array of strings',
  rate: '`{"requests": 10, "window_seconds": 60}`',
  object: 'object',
  objects: 'array of objects',
} as const;

type FieldType = keyof typeof FIELD_FORMS;

export interface ControlField {
  readonly type: FieldType;
  readonly help: string;
  readonly required?: true;
  /** JSON null is allowed, and removes a rule. */
  readonly nullable?: true;
  /** Of `choice` and `list`. */
  readonly choices?: readonly string[];
}

export const FAULT_FIELDS = {
  on: {
    type: 'text',
    required: true,
    help: 'route, such as "POST /dubbings", "PUT /objects/{upload_id}" or "GET /assets/{job_id}/{name}"',
  },
  times: { type: 'times', help: 'number of requests, or always (default: 1)' },
  status: { type: 'count', help: 'answer with this status' },
  code: { type: 'text', help: 'error code of that answer (default: the first one with its status)' },
  retry_after: { type: 'whole', help: 'Retry-After of that answer, in seconds' },
  body: { type: 'text', help: 'answer with exactly this text' },
  headers: { type: 'object', help: 'headers of that text' },
  drop: {
    type: 'choice',
    choices: ['before', 'after'],
    help: 'close the connection before or after the work',
  },
  cut_after_bytes: { type: 'count', help: 'cut the correct answer after this many bytes' },
  delay_ms: { type: 'whole', help: 'wait this many milliseconds first' },
  when: {
    type: 'choice',
    choices: ['before', 'after'],
    help: 'answer before or after the work is done (default: before)',
  },
} as const satisfies Record<string, ControlField>;

export const KEY_FIELDS = {
  permissions: { type: 'list', choices: JOB_KIND_NAMES, help: 'capabilities that the key may use' },
  monthly_quota_credits: {
    type: 'number',
    nullable: true,
    help: 'credits per calendar month, in Asia/Shanghai; null: no limit',
  },
  allowed_addresses: { type: 'list', help: 'addresses and networks that may use the key; none: all' },
  rate: {
    type: 'rate',
    nullable: true,
    help: 'requests per window, until the service ends; null: as for other keys',
  },
} as const satisfies Record<string, ControlField>;
