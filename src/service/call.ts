/** One call of an operation, authenticated and parsed: the input of handlers. */
import type { JobKind } from '../protocol/kind-names.ts';
import type { Operation } from '../protocol/operations.ts';
import type { KeyRow } from './auth/keys.ts';
import type { ServiceContext } from './context.ts';
import type { ServiceResponse } from './http/exchange.ts';

export interface OperationCall {
  readonly operation: Operation;
  readonly key: KeyRow;
  /** In canonical form, with the version prefix. */
  readonly path: string;
  /** Id in the path; empty for a collection. */
  readonly resourceId: string;
  readonly query: ReadonlyMap<string, string>;
  /** Parsed JSON of a POST, else undefined. */
  readonly body: unknown;
  /** Empty for a GET. */
  readonly idempotencyKey: string;
  /** ms since 1970. */
  readonly now: number;
}

export type Handler = (
  context: ServiceContext,
  call: OperationCall,
) => ServiceResponse | Promise<ServiceResponse>;

/** The kind of a job operation. */
export function kindOf(call: OperationCall): JobKind {
  const { kind, operationId } = call.operation;
  if (kind === null) throw new Error(`${operationId} is not an operation of a job kind`);
  return kind;
}
