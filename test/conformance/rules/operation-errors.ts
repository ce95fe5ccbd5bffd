/** The operation table: every operation answers with each declared error status that a request can cause. */
import { expectProblem } from '../expect/answer.ts';
import { KINDS, OPERATIONS, type Operation } from '../operations.ts';
import { provoke } from '../prepare/operations.ts';
import { type Need, needsOf, type Rule, type Strictness, section } from '../rule.ts';
import type { SentenceId } from '../sentences.ts';

const rule = section('operations');

interface Provoked {
  readonly strictness: Strictness;
  readonly code: string;
  /** The cause of the error in the request. */
  readonly because: string;
  readonly needs: readonly Need[];
  readonly covers: readonly SentenceId[];
}

/** How each declared error is caused, except 409, which differs by operation; 500 and 503 cannot be caused. */
const PROVOKED: Readonly<Record<number, Provoked>> = {
  400: {
    strictness: 'spec',
    code: 'INVALID_REQUEST',
    because: 'broken JSON or an unknown parameter',
    needs: [],
    covers: ['error.INVALID_REQUEST'],
  },
  401: {
    strictness: 'spec',
    code: 'AUTHENTICATION_FAILED',
    because: 'a wrong signature',
    needs: [],
    covers: ['error.AUTHENTICATION_FAILED', 'endpoint.signed'],
  },
  402: {
    strictness: 'spec',
    code: 'INSUFFICIENT_CREDITS',
    because: 'an account without credits',
    needs: ['account'],
    covers: ['error.INSUFFICIENT_CREDITS', 'balance.null-is-not-unlimited'],
  },
  403: {
    strictness: 'spec',
    code: 'SOURCE_IP_NOT_ALLOWED',
    because: 'an address outside the allow-list',
    needs: ['keys'],
    covers: ['error.SOURCE_IP_NOT_ALLOWED', 'auth.allow-list', 'service.key-choices'],
  },
  404: {
    strictness: 'spec',
    code: 'RESOURCE_NOT_FOUND',
    because: 'an unknown id',
    needs: [],
    covers: ['path.ids', 'error.open-codes'],
  },
  413: {
    strictness: 'contract',
    code: 'CONTENT_TOO_LARGE',
    because: 'a body of more than 12 MiB',
    needs: [],
    covers: ['error.open-codes'],
  },
  422: {
    strictness: 'contract',
    code: 'INPUT_NOT_USABLE',
    because: 'an upload that is not ready',
    needs: [],
    covers: ['error.open-codes', 'upload.only-ready', 'behavior.reservation-not-usable'],
  },
  429: {
    strictness: 'spec',
    code: 'RATE_LIMIT_EXCEEDED',
    because: 'too many requests',
    needs: ['account'],
    covers: ['error.RATE_LIMIT_EXCEEDED'],
  },
};

const CONFLICTS = {
  completion: {
    strictness: 'contract',
    code: 'UPLOAD_STATE_CONFLICT',
    because: 'bytes that have not arrived',
    needs: [],
    covers: ['error.open-codes'],
  },
  cancel: {
    strictness: 'spec',
    code: 'JOB_NOT_CANCELLABLE',
    because: 'a job that has ended',
    needs: [],
    covers: ['behavior.cancel', 'error.open-codes'],
  },
  create: {
    strictness: 'spec',
    code: 'IDEMPOTENCY_KEY_REUSED',
    because: 'an Idempotency-Key of another request',
    needs: [],
    covers: ['error.IDEMPOTENCY_KEY_REUSED'],
  },
} as const satisfies Record<string, Provoked>;

function conflictOf({ id, method }: Operation): Provoked {
  if (id === 'completeUpload') return CONFLICTS.completion;
  return method === 'DELETE' ? CONFLICTS.cancel : CONFLICTS.create;
}

/** Decided before the input is read. */
const BEFORE_INPUT = [400, 401, 403, 404, 413, 429];

/**
 * No request makes a healthy service answer 500 or 503, and nothing in the specification causes 422 on a completion.
 */
function canBeProvoked({ id }: Operation, status: number): boolean {
  return status !== 500 && status !== 503 && !(id === 'completeUpload' && status === 422);
}

function errorRules(operation: Operation): Rule[] {
  return operation.errors
    .filter((status) => canBeProvoked(operation, status))
    .map((status) => {
      const provoked = status === 409 ? conflictOf(operation) : PROVOKED[status];
      if (provoked === undefined) throw new Error(`${operation.id} declares ${status}`);
      const { strictness, code, because, covers } = provoked;
      const needs =
        operation.kind === null || BEFORE_INPUT.includes(status) ? [] : needsOf(KINDS[operation.kind].input);
      return rule(strictness, `${operation.id}.${status}`, {
        title: `${operation.id} answers ${status} ${code} to ${because}`,
        covers: [`operation.${operation.id}`, ...covers],
        needs: [...provoked.needs, ...needs],
        async check(service) {
          expectProblem(service, await provoke(service, operation, status), status, code);
        },
      });
    });
}

export const OPERATION_ERROR_RULES: readonly Rule[] = OPERATIONS.flatMap(errorRules);
