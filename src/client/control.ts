/** Calls the control interface of a service on this machine. */
import { Failure } from '../errors/failure.ts';
import { formatQuery } from '../protocol/canonical.ts';
import { type ControlAddress, type ControlOperation, parameterOf } from '../service/control/operations.ts';
import { readResponse } from './transport/answer.ts';
import { collectBody, MAX_ANSWER_BYTES } from './transport/body.ts';
import { describeNetworkError } from './transport/network-error.ts';

/** A connection on one machine takes a millisecond. */
const CONNECT_MS = 5_000;

interface ControlCall {
  readonly operation: Pick<ControlOperation, 'method' | 'path'>;
  /** The parameter in the path; empty if it has none. */
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** A temporary workspace; null: the service itself. */
  readonly workspace: string | null;
  readonly signal: AbortSignal;
}

/**
 * Resolves with the answer.
 * @throws Failure of the service; CONTROL_OFF if nothing listens, or another service does
 */
export async function callControl({ url, token }: ControlAddress, call: ControlCall): Promise<unknown> {
  const { operation, fields, signal } = call;
  const isRead = operation.method === 'GET';
  const body = isRead || Object.keys(fields).length === 0 ? null : Buffer.from(JSON.stringify(fields));
  const query = Object.entries(fields).map(([name, value]) => [name, String(value)] as const);
  const { createCallHttp } = await import('./transport/call-http.ts');
  const http = createCallHttp({ connectMs: CONNECT_MS });
  try {
    const response = await http.send({
      origin: url,
      target: targetOf(call) + (isRead ? formatQuery(query) : ''),
      method: operation.method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === null ? {} : { 'content-type': 'application/json' }),
      },
      body,
      signal,
    });
    const { status, headers } = response;
    const read = readResponse(
      { status, headers, bytes: await collectBody(response, MAX_ANSWER_BYTES) },
      Date.now(),
    );
    if (read.type === 'done') return read.value.body;
    throw status === 401 ? controlOff(`the service at ${url} has a different control token`) : read.failure;
  } catch (error) {
    if (signal.aborted || error instanceof Failure) throw error;
    const { failure } = describeNetworkError(error, url);
    throw controlOff(failure.message, failure);
  } finally {
    await http.close();
  }
}

function targetOf({ operation, id, workspace }: ControlCall): string {
  const path = operation.path.replace(`{${parameterOf(operation)}}`, encodeURIComponent(id));
  return workspace === null ? path : `/workspaces/${encodeURIComponent(workspace)}${path}`;
}

/** @param why a sentence without its full stop */
export function controlOff(why: string, cause?: unknown): Failure {
  return new Failure(
    {
      category: 'configuration',
      code: 'CONTROL_OFF',
      message: `the control interface cannot be reached: ${why}`,
      advice:
        'Start the service with `vloc serve --control`; --state-dir or VLOC_STATE_DIR names its state folder.',
    },
    { cause },
  );
}
