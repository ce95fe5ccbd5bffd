/** Fetches the bytes that a create request names by address. Source: contract, "Jobs" (source). */
import { open, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { JobFailure } from '../../protocol/job-failure.ts';
import type { UploadPurpose } from '../../protocol/states.ts';
import type { Clock } from '../clock.ts';
import { FILE_MODE } from '../folders.ts';
import { watchFlow } from '../uploads/flow.ts';
import { FIRST_REFUSED_SIZE } from '../uploads/limits.ts';
import { withDeadline } from './deadline.ts';
import { describeNetworkError, TargetBlocked, TargetUnreachable } from './failures.ts';
import { type Network, sendRequest } from './request.ts';
import { isLoopbackUrl } from './url-policy.ts';

export interface FetchParts {
  readonly network: Network;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Number of bytes at which a file is refused; default: that of its purpose. */
  readonly refusedSize?: number;
}

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** 60 minutes: 1 GiB at 2.4 Mbit/s; a quarter of what the whole job may take. */
const TOTAL_MS = 60 * 60_000;
/** 30 s from the look-up to the head of an answer: storage that must first wake a file takes seconds. */
const HEAD_MS = 30_000;

const ADVICE = 'or upload the file with POST /uploads';

/**
 * Streams what lies at an address into a new file, of which nothing is left when it throws anything.
 * @param path file to make, mode 0600
 * @throws JobFailure SOURCE_UNREACHABLE, SOURCE_BLOCKED, SOURCE_TOO_LARGE; errors of the file system and the signal's
 *   reason as they are
 */
export async function fetchSource(
  address: string,
  purpose: UploadPurpose,
  path: string,
  parts: FetchParts,
): Promise<void> {
  const { clock, signal } = parts;
  const failure = unreachable(`it took longer than ${TOTAL_MS / 60_000} minutes`);
  try {
    await withDeadline({ clock, ms: TOTAL_MS, failure, signal }, async (limited) => {
      const answer = await followRedirects(address, { ...parts, signal: limited });
      try {
        const refusedSize = parts.refusedSize ?? FIRST_REFUSED_SIZE[purpose];
        requireUsableHead(answer, refusedSize);
        await writeBody(answer, path, { refusedSize, clock, signal: limited });
      } finally {
        answer.destroy();
      }
    });
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

async function followRedirects(first: string, parts: FetchParts): Promise<IncomingMessage> {
  let address = first;
  let { network } = parts;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const answer = await askForHead(address, redirects > 0, { ...parts, network });
    if (!REDIRECTS.includes(answer.statusCode ?? 0)) return answer;
    answer.destroy();
    const next = URL.parse(answer.headers.location ?? '', address);
    if (answer.headers.location === undefined || next === null) {
      throw unreachable('it redirects without saying where to');
    }
    // Whoever is outside may not lead back into this machine, even where callers may lead there.
    if (!isLoopbackUrl(address)) network = { ...network, policy: { allowLoopback: false } };
    address = next.href;
  }
  throw unreachable(`it redirects more than ${MAX_REDIRECTS} times`);
}

async function askForHead(
  address: string,
  isRedirected: boolean,
  { network, clock, signal }: FetchParts,
): Promise<IncomingMessage> {
  const failure = unreachable(`it did not answer within ${HEAD_MS / 1000} s`);
  const message = { method: 'GET', headers: { Accept: '*/*', 'Accept-Encoding': 'identity' } } as const;
  try {
    return await withDeadline({ clock, ms: HEAD_MS, failure, signal }, (limited) =>
      sendRequest(network, address, message, limited),
    );
  } catch (error) {
    if (error instanceof TargetBlocked) throw blocked(error, isRedirected);
    if (error instanceof TargetUnreachable) throw unreachable(error.message, error);
    throw error;
  }
}

function requireUsableHead({ statusCode = 0, headers }: IncomingMessage, refusedSize: number): void {
  if (statusCode !== 200) {
    throw unreachable(`it answered with status ${statusCode}; it must be readable without a login`);
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw unreachable('it sent compressed bytes although plain ones were asked for');
  }
  const length = headers['content-length'];
  // A body that just ends cannot be told from one that broke off.
  if (length === undefined && headers['transfer-encoding'] === undefined) {
    throw unreachable('it does not say how long the file is (no Content-Length)');
  }
  if (length !== undefined && Number(length) >= refusedSize) throw tooLarge(refusedSize);
}

async function writeBody(
  answer: IncomingMessage,
  path: string,
  { refusedSize, clock, signal }: { refusedSize: number; clock: Clock; signal: AbortSignal },
): Promise<void> {
  // Opened before anything can fail: a file that comes to be after a failure would be left behind.
  const file = await open(path, 'wx', FILE_MODE);
  const stopWatching = watchFlow(answer, clock);
  try {
    await pipeline(countBytes(readChunks(answer), refusedSize), file.createWriteStream(), { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    stopWatching();
    await file.close();
  }
  if (!answer.complete) throw unreachable('the transfer did not end well: the connection broke off');
}

/** What goes wrong on the way here is the source's fault; what goes wrong in the file is not. */
async function* readChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    throw unreachable(`the transfer did not end well: ${describeNetworkError(error)}`, error);
  }
}

async function* countBytes(chunks: AsyncIterable<Buffer>, refusedSize: number): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size >= refusedSize) throw tooLarge(refusedSize);
    yield chunk;
  }
  if (size === 0) throw unreachable('the file is empty');
}

function unreachable(what: string, cause?: unknown): JobFailure {
  const message = `the source could not be fetched: ${what}; check the address and try again, ${ADVICE}`;
  return new JobFailure('SOURCE_UNREACHABLE', message, { cause });
}

/** Where a redirect leads is not told: it may name what only the other server should know. */
function blocked(error: TargetBlocked, isRedirected: boolean): JobFailure {
  const subject = isRedirected ? 'it redirects to an address that may not be fetched: ' : '';
  const message = `the source may not be fetched: ${subject}${error.message}; name a public https address, ${ADVICE}`;
  return new JobFailure('SOURCE_BLOCKED', message, { cause: error });
}

function tooLarge(refusedSize: number): JobFailure {
  const mebibytes = refusedSize / 1024 ** 2;
  return new JobFailure(
    'SOURCE_TOO_LARGE',
    `the source is too large: it must be under ${mebibytes} MiB; make it smaller, or cut it into parts`,
  );
}
