import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { Failure, isApiAnswer, usageFailure } from '../../base/failure.ts';
import { flagOption, pairsOption, textOption } from '../../base/option.ts';
import type { ApiResponse, Call, Client, ListPage } from '../../client/index.ts';
import { RefusedAnswer } from '../../client/transport/answer.ts';
import { OPERATIONS, VERSION_PREFIX } from '../../protocol/operations.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { connectService } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import { readPages } from '../context/lists.ts';
import { ListSummary } from '../context/output-schemas.ts';
import { readBody } from '../context/request-body.ts';

/** The answer of the service, or the entries of all pages. */
const ANY_ANSWER = { json: [v.unknown()], ndjson: [v.unknown(), ListSummary] };

export const api: Command = defineCommand({
  operands: {
    name: 'path',
    count: 'many',
    parts: {
      '[method]': 'HTTP method (default: GET, with --data POST)',
      '<path>': 'path of the resource, with or without /v1',
    },
  },
  options: {
    data: textOption('json', 'request body as JSON, @file, or - for stdin', { short: '-d' }),
    header: pairsOption('name=value', 'additional header; repeatable', { short: '-H' }),
    idempotencyKey: textOption(
      'key',
      'Idempotency-Key of a POST or DELETE (default: a new one, printed on stderr)',
    ),
    paginate: flagOption('print the entries of all pages of a list'),
    include: flagOption('also print status and headers, of an error too: {status, headers, body}'),
  },
  examples: [
    { command: 'vloc api /credits', explains: 'a signed GET' },
    {
      command: "vloc api '/uploads?status=ready' --paginate --jq '.[].id'",
      explains: 'the ids of all entries, from all pages',
    },
    {
      command: 'vloc api POST /dubbings -d @request.json -H X-Client-Request-ID=lesson-4',
      explains: 'a request from a file',
    },
  ],
  notes: [
    'The JSON of the response is printed with all its fields. Errors go to stderr and set the exit code, as with every command.',
    'To repeat a POST or DELETE safely, use the same --idempotency-key.',
    'With --output ndjson and --paginate, each entry is a line.',
  ],
  prints: ANY_ANSWER,
  run: async (context, operands, options) => {
    const { method, path } = readCall(operands, options.data !== undefined);
    const body = options.data === undefined ? undefined : await readBody(options.data, context.io);
    if (options.paginate && method !== 'GET')
      throw apiUsageFailure('--paginate is for lists, which are read with GET');
    if (options.paginate && options.include)
      throw apiUsageFailure('--paginate and --include cannot be combined');
    if (method === 'GET' && options.idempotencyKey !== undefined)
      throw apiUsageFailure('a GET cannot have an Idempotency-Key');
    const key = method === 'GET' ? undefined : (options.idempotencyKey ?? randomUUID());
    const call: Call = {
      method,
      path,
      body,
      headers: options.header,
      idempotencyKey: key,
      signal: context.signal,
    };
    const connection = await connectService(context);
    try {
      if (key !== undefined) context.terminal.note(`Idempotency-Key: ${key}`);
      if (options.paginate) await printEntries(context, await readAllPages(connection.client, call));
      else await printAnswer(context, await connection.client.send(call), options.include);
      return 0;
    } catch (error) {
      if (options.include && error instanceof Failure && error.cause instanceof RefusedAnswer) {
        const { raw, body } = error.cause;
        await printAnswer(context, { ...raw, body }, true);
      }
      const isUnknownPath = isApiAnswer(error, 404) && !isPathOfOperation(path);
      throw isUnknownPath ? error.with({ advice: UNKNOWN_PATH }) : error;
    } finally {
      await connection.close();
    }
  },
});

const UNKNOWN_PATH = 'No such path. Run `vloc schema --output id` for a list.';

/** @param path with or without the version and the slash before it, perhaps with a query */
function isPathOfOperation(path: string): boolean {
  const [place = ''] = path.split('?');
  const below = place.replace(/^\/?/, '/');
  const segments = (
    below.startsWith(`${VERSION_PREFIX}/`) ? below.slice(VERSION_PREFIX.length) : below
  ).split('/');
  return OPERATIONS.some((operation) => {
    const parts = operation.path.split('/');
    return (
      parts.length === segments.length &&
      parts.every((part, at) => part.startsWith('{') || part === segments[at])
    );
  });
}

async function printAnswer(
  { present }: Context,
  { status, headers, body }: Pick<ApiResponse, 'status' | 'headers' | 'body'>,
  include: boolean,
): Promise<void> {
  const shown = include ? { status, headers, body } : body;
  // The answer has no body.
  if (shown !== null) await present.show({ document: () => shown, ids: () => idsIn(body) });
}

async function printEntries({ terminal, present }: Context, entries: readonly unknown[]): Promise<void> {
  if (entries.length === 0) terminal.note('No entries found.');
  await present.show({
    document: () => entries,
    events: () => [...entries, { type: 'summary', count: entries.length }],
    ids: () => idsIn(entries),
  });
}

/** The ids of a resource, of a list, or of an array of resources. */
function idsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(idsIn);
  if (typeof value !== 'object' || value === null) return [];
  if ('data' in value && Array.isArray(value.data)) return idsIn(value.data);
  return 'id' in value && typeof value.id === 'string' ? [value.id] : [];
}

function apiUsageFailure(message: string): Failure {
  return invalidCallFailure(message, 'See `vloc api --help`.');
}

/**
 * Returns the entries of all pages.
 * @throws Failure of category usage when the answer is not a list
 */
async function readAllPages(client: Pick<Client, 'send'>, call: Call): Promise<readonly unknown[]> {
  const unlimited = { limit: Number.POSITIVE_INFINITY, cursor: undefined };
  const { data } = await readPages(unlimited, async ({ cursor }) => {
    const { body } = await client.send({ ...call, ...(cursor === undefined ? {} : { query: { cursor } }) });
    return readEnvelope(body);
  });
  return data;
}

function readEnvelope(body: unknown): ListPage<unknown> {
  const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : null;
  if (typeof body !== 'object' || body === null || !Array.isArray(data)) {
    throw usageFailure(
      'NO_LIST',
      'the answer is not a list, so there are no pages to follow',
      'Leave --paginate out.',
    );
  }
  const cursor = 'next_cursor' in body && typeof body.next_cursor === 'string' ? body.next_cursor : null;
  return { object: 'list', data, has_more: cursor !== null, next_cursor: cursor };
}

const METHODS = ['GET', 'POST', 'DELETE', 'PUT', 'PATCH'] as const;

/**
 * Reads `[METHOD] PATH`; without a method it is GET, and POST where there is a body, as with `gh api`.
 * @throws Failure of category usage
 */
function readCall(operands: readonly string[], hasBody: boolean): Pick<Call, 'method' | 'path'> {
  const [first = '', second, ...rest] = operands;
  if (rest.length > 0)
    throw apiBodyFailure(
      'more than one method and one path were given',
      'Quote the path if the shell splits it.',
    );
  if (second === undefined) return { method: hasBody ? 'POST' : 'GET', path: first };
  const method = METHODS.find((each) => each === first.toUpperCase());
  if (method === undefined) {
    throw apiBodyFailure(`unknown HTTP method "${first}"`, `Methods: ${METHODS.join(', ')}; then the path.`);
  }
  return { method, path: second };
}

function apiBodyFailure(message: string, advice: string): Failure {
  return usageFailure('BODY_INVALID', message, advice);
}
