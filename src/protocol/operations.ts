/** The 26 operations, generated from the table of kinds. Source: specification, "Operation table". */
import { JOB_KIND_NAMES, type JobKind } from './kind-names.ts';
import { KINDS, type Kind, type Kinds } from './kinds.ts';

export const VERSION_PREFIX = '/v1';

export type Action =
  | 'getCredits'
  | 'listCreditTransactions'
  | 'createUpload'
  | 'listUploads'
  | 'getUpload'
  | 'completeUpload'
  | 'createJob'
  | 'listJobs'
  | 'getJob'
  | 'cancelJob';

export interface Operation {
  readonly operationId: string;
  readonly action: Action;
  /** Set for the operations of a job kind. */
  readonly kind: JobKind | null;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below the version prefix. Parameters are in braces. */
  readonly path: string;
  readonly success: readonly number[];
  readonly errors: readonly number[];
}

const READ = [400, 401, 403, 429, 503];
const READ_ONE = [401, 403, 404, 429, 500, 503];
const CREATE_JOB = [400, 401, 402, 403, 409, 413, 422, 429, 500, 503];
const CANCEL = [401, 403, 404, 409, 429, 500, 503];

function jobOperations(name: JobKind): Operation[] {
  const kind: Kind = KINDS[name];
  const collection = `/${kind.path}`;
  const single = `${collection}/{${kind.idParameter}}`;
  return [
    {
      operationId: `create${kind.noun}`,
      action: 'createJob',
      kind: name,
      method: 'POST',
      path: collection,
      success: [202],
      errors: CREATE_JOB,
    },
    {
      operationId: `list${kind.plural}`,
      action: 'listJobs',
      kind: name,
      method: 'GET',
      path: collection,
      success: [200],
      errors: READ,
    },
    {
      operationId: `get${kind.noun}`,
      action: 'getJob',
      kind: name,
      method: 'GET',
      path: single,
      success: [200],
      errors: READ_ONE,
    },
    {
      operationId: `cancel${kind.noun}`,
      action: 'cancelJob',
      kind: name,
      method: 'DELETE',
      path: single,
      success: [202],
      errors: CANCEL,
    },
  ];
}

/** Operations that do not belong to a kind. */
const COMMON_OPERATIONS = [
  {
    operationId: 'getCredits',
    action: 'getCredits',
    kind: null,
    method: 'GET',
    path: '/credits',
    success: [200],
    errors: READ,
  },
  {
    operationId: 'listCreditTransactions',
    action: 'listCreditTransactions',
    kind: null,
    method: 'GET',
    path: '/credit-transactions',
    success: [200],
    errors: READ,
  },
  {
    operationId: 'createUpload',
    action: 'createUpload',
    kind: null,
    method: 'POST',
    path: '/uploads',
    success: [201],
    errors: [400, 401, 403, 409, 413, 429, 500, 503],
  },
  {
    operationId: 'listUploads',
    action: 'listUploads',
    kind: null,
    method: 'GET',
    path: '/uploads',
    success: [200],
    errors: READ,
  },
  {
    operationId: 'getUpload',
    action: 'getUpload',
    kind: null,
    method: 'GET',
    path: '/uploads/{upload_id}',
    success: [200],
    errors: READ_ONE,
  },
  {
    operationId: 'completeUpload',
    action: 'completeUpload',
    kind: null,
    method: 'POST',
    path: '/uploads/{upload_id}/completions',
    success: [200, 202],
    errors: [400, 401, 403, 404, 409, 413, 422, 429, 500, 503],
  },
] as const satisfies readonly Operation[];

export const OPERATIONS: readonly Operation[] = [
  ...COMMON_OPERATIONS,
  ...JOB_KIND_NAMES.flatMap(jobOperations),
];

type NameOf<O> = O extends { method: infer Method extends string; path: infer Path extends string }
  ? `${Method} ${Path}`
  : never;

type JobOperationName<Path extends string, Id extends string> =
  | `POST /${Path}`
  | `GET /${Path}`
  | `GET /${Path}/{${Id}}`
  | `DELETE /${Path}/{${Id}}`;

/** Method and path as in the table: `POST /dubbings`, `GET /uploads/{upload_id}`. */
export type OperationName =
  | NameOf<(typeof COMMON_OPERATIONS)[number]>
  | { [K in JobKind]: JobOperationName<Kinds[K]['path'], Kinds[K]['idParameter']> }[JobKind];

/** The name of an operation. Source: specification, "Operation table". */
export function operationName({ method, path }: Pick<Operation, 'method' | 'path'>): OperationName {
  return `${method} ${path}` as OperationName; // the type is computed from the same rows; a test compares both
}

/** Statuses in addition to the declared ones, each because the specification leaves no other choice. */
export const UNDECLARED_STATUSES = {
  /**
   * The specification requires an Idempotency-Key on DELETE and names unknown parameters as a reason for 400, but declares none
   * for GET and DELETE of one resource. A 404 would say that the resource does not exist, and ignoring a parameter could cancel a job
   * whose caller asked for something else.
   */
  // spec: open
  400: 'DELETE without a valid Idempotency-Key, a query parameter of GET or DELETE of one resource, and a request that is not well-formed HTTP',
  405: 'a method that the path does not accept',
  415: 'a body that is not JSON or is compressed',
} as const;

/** Returns the kind whose collection has this path segment, or null. */
export function kindOfPath(segment: string): JobKind | null {
  return JOB_KIND_NAMES.find((name) => KINDS[name].path === segment) ?? null;
}
