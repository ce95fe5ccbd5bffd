/** Fetches and checks the input of a job whose request contains a URL. Source: contract, "Jobs" (source). */
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AddressBlocked } from '../../base/checked-connection.ts';
import type { HttpResponse } from '../../base/http.ts';
import { explainNetworkError } from '../../base/network-error.ts';
import type { Work } from '../../media/work.ts';
import { parseAddress } from '../../protocol/address.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { countCharacters, type InputSize } from '../../protocol/metering.ts';
import type { JobRequest } from '../../protocol/request-types.ts';
import { decodeSrt, formatSrt, SubtitleError } from '../../protocol/srt.ts';
import type { UploadPurpose } from '../../protocol/states.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { Clock } from '../clock.ts';
import type { ServiceContext } from '../context.ts';
import { FILE_MODE } from '../folders.ts';
import {
  describeNetworkError,
  type OutgoingNetwork,
  sendRequest,
  systemNetwork,
  TargetUnreachable,
} from '../outgoing/request.ts';
import { isLoopbackUrl } from '../outgoing/url-policy.ts';
import { watchFlow, withDeadline } from '../time-limits.ts';
import { FIRST_REFUSED_SIZE } from '../uploads/rows.ts';
import { requireUsable } from '../uploads/validation.ts';
import type { JobInputs } from './tasks.ts';

export interface SourceAddress {
  readonly purpose: UploadPurpose;
  readonly url: string;
}

/** Returns the URL that a request uses as its input, or null. */
export function sourceAddress(request: JobRequest): SourceAddress | null {
  if ('source' in request) {
    return request.source.type === 'url' ? { purpose: 'source_video', url: request.source.url } : null;
  }
  return request.subtitle.type === 'url' ? { purpose: 'subtitle_file', url: request.subtitle.url } : null;
}

/** The largest possible video. It is reserved for a video at an address; the real size is charged, and the rest is released. */
export const LARGEST_VIDEO: InputSize = { seconds: LIMITS.videoSeconds, lines: 0, characters: 0 };

/**
 * The size that is assumed for subtitles whose server says nothing about them: a hundredth of the largest. The job reserves
 * more before its work if they are larger.
 */
// spec: open — how subtitles at an address are estimated. The largest size is 10,000 credits, which refused smaller accounts.
const ASSUMED_SUBTITLES: InputSize = {
  seconds: 0,
  lines: LIMITS.subtitleLines / 100,
  characters: LIMITS.subtitleBytes / 100,
};

const SHORTEST_CUE = formatSrt([{ index: 1, start_ms: 0, end_ms: 1, text: 'a' }]);

/** The largest subtitles that a file of that many bytes can contain. */
function largestSubtitles(bytes: number): InputSize {
  const lines = Math.min(LIMITS.subtitleLines, Math.ceil(bytes / SHORTEST_CUE.length));
  // A code point takes at least one byte.
  return { seconds: 0, lines, characters: bytes };
}

interface FetchedMaterial {
  readonly material: JobInputs;
  readonly size: InputSize;
}

/**
 * Fetches the input of a job into its work folder and measures it. Each attempt fetches it again.
 * @throws JobFailure SOURCE_UNREACHABLE, SOURCE_BLOCKED, SOURCE_TOO_LARGE, SUBTITLE_INVALID, those of `Engines.inspect`
 */
export async function fetchMaterial(
  context: ServiceContext,
  { purpose, url }: SourceAddress,
  { folder, signal }: Pick<Work, 'folder' | 'signal'>,
): Promise<FetchedMaterial> {
  const path = join(folder, 'fetched-source');
  const network = systemNetwork({ allowLoopback: context.config.allowLoopback });
  await fetchSource(url, purpose, path, { network, clock: context.clock, signal });
  if (purpose === 'subtitle_file') {
    const lines = await readSubtitle(path);
    const size = { seconds: 0, lines: lines.length, characters: countCharacters(lines) };
    return { material: { video: '', lines }, size };
  }
  const media = await (await context.engines()).inspect(path, signal);
  requireUsable(media);
  const size = { seconds: media.duration_seconds, lines: 0, characters: 0 };
  return { material: { video: path, lines: [] }, size };
}

/** Callers wait for it: a server that has a small file answers in less, and most clients wait for longer. */
const BEFORE_CREATION_MS = 5_000;

/** Lines, or the size to reserve for subtitles that could not be fetched now; their job tries again. */
type SubtitlesBefore =
  | { readonly lines: SubtitleLine[] }
  | { readonly lines: null; readonly size: InputSize };

/**
 * Reads the subtitles at a URL before their job is created, so that credits are reserved for their real size.
 * @throws JobFailure SOURCE_UNREACHABLE that is permanent, SOURCE_BLOCKED, SOURCE_TOO_LARGE, SUBTITLE_INVALID
 */
export async function readSubtitleSource(
  { config, clock }: ServiceContext,
  url: string,
): Promise<SubtitlesBefore> {
  // Not in the work folder: its sweep removes what belongs to no job.
  const folder = await mkdtemp(join(tmpdir(), 'vloc-source-'));
  const path = join(folder, 'subtitle');
  const network = systemNetwork({ allowLoopback: config.allowLoopback });
  const failure = sourceUnreachableFailure(`it took longer than ${BEFORE_CREATION_MS / 1000} s`);
  const { signal } = new AbortController();
  let size = ASSUMED_SUBTITLES;
  const onLength = (bytes: number) => {
    size = largestSubtitles(bytes);
  };
  try {
    await withDeadline({ clock, ms: BEFORE_CREATION_MS, failure, signal }, (limited) =>
      fetchSource(url, 'subtitle_file', path, { network, clock, signal: limited, onLength }),
    );
    return { lines: await readSubtitle(path) };
  } catch (error) {
    if (!(error instanceof JobFailure) || error.code !== 'SOURCE_UNREACHABLE' || error.permanent) throw error;
    return { lines: null, size };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readSubtitle(path: string): Promise<SubtitleLine[]> {
  try {
    return decodeSrt(await readFile(path));
  } catch (error) {
    if (!(error instanceof SubtitleError)) throw error;
    throw new JobFailure('SUBTITLE_INVALID', error.message, { cause: error });
  }
}

interface FetchParts {
  readonly network: OutgoingNetwork;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Files of this many bytes or more are refused. Default: the limit of its purpose. */
  readonly refusedSize?: number;
  /** Called with the size that the source states, in bytes. */
  readonly onLength?: (bytes: number) => void;
}

const MAX_REDIRECTS = 5;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** 60 minutes: 1 GiB at 2.4 Mbit/s; a quarter of the deadline of a job. */
const TOTAL_MS = 60 * 60_000;
/** 30 s from the DNS lookup to the head of an answer: archive storage takes seconds. */
const HEAD_MS = 30_000;

const ADVICE = 'or upload the file with POST /uploads';

/**
 * Downloads a URL into a new file, and removes that file if it throws.
 * @param path file to create, mode 0600
 * @throws JobFailure SOURCE_UNREACHABLE, SOURCE_BLOCKED, SOURCE_TOO_LARGE; errors of the file system and the signal's
 * reason unchanged
 */
export async function fetchSource(
  address: string,
  purpose: UploadPurpose,
  path: string,
  parts: FetchParts,
): Promise<void> {
  const { clock, signal } = parts;
  const failure = sourceUnreachableFailure(`it took longer than ${TOTAL_MS / 60_000} minutes`);
  try {
    await withDeadline({ clock, ms: TOTAL_MS, failure, signal }, async (limited) => {
      const answer = await followRedirects(address, { ...parts, signal: limited });
      try {
        const refusedSize = parts.refusedSize ?? FIRST_REFUSED_SIZE[purpose];
        const length = requireUsableHead(answer, refusedSize);
        if (length !== null) parts.onLength?.(length);
        await writeBody(answer, path, { refusedSize, clock, signal: limited });
      } finally {
        answer.discard();
      }
    });
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

async function followRedirects(first: string, parts: FetchParts): Promise<HttpResponse> {
  let address = first;
  let { network } = parts;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const answer = await askForHead(address, redirects > 0, { ...parts, network });
    if (!REDIRECTS.includes(answer.status)) return answer;
    answer.discard();
    // Servers often leave spaces in a path unencoded.
    const next = parseAddress((answer.headers.location ?? '').replaceAll(' ', '%20'), address);
    if (answer.headers.location === undefined || next === null) {
      throw sourceUnusableFailure('it redirects without saying where to');
    }
    // An outside server must not redirect to this machine, even if callers may use its address.
    if (!isLoopbackUrl(address)) network = { ...network, policy: { allowLoopback: false } };
    address = next.href;
  }
  throw sourceUnusableFailure(`it redirects more than ${MAX_REDIRECTS} times`);
}

async function askForHead(
  address: string,
  isRedirected: boolean,
  { network, clock, signal }: FetchParts,
): Promise<HttpResponse> {
  const failure = sourceUnreachableFailure(`it did not answer within ${HEAD_MS / 1000} s`);
  const message = { method: 'GET', headers: { accept: '*/*' } } as const;
  try {
    return await withDeadline({ clock, ms: HEAD_MS, failure, signal }, (limited) =>
      sendRequest(network, address, message, limited),
    );
  } catch (error) {
    if (error instanceof AddressBlocked) throw sourceBlockedFailure(error, isRedirected);
    if (!(error instanceof TargetUnreachable)) throw error;
    const isPassing = explainNetworkError(error.cause).kind === 'passing';
    throw isPassing
      ? sourceUnreachableFailure(error.message, error)
      : sourceUnusableFailure(error.message, error);
  }
}

/** Client errors that say "later". */
const PASSING_STATUSES: readonly number[] = [408, 425, 429];

/** @returns the size in bytes; null if the source does not state it  @throws JobFailure */
function requireUsableHead({ status, headers }: HttpResponse, refusedSize: number): number | null {
  if (status !== 200) {
    const what = `it answered with status ${status}; it must be readable without a login`;
    const isFinal = status >= 400 && status < 500 && !PASSING_STATUSES.includes(status);
    throw isFinal ? sourceUnusableFailure(what) : sourceUnreachableFailure(what);
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw sourceUnusableFailure('it sent compressed bytes although uncompressed ones were requested');
  }
  const length = headers['content-length'];
  // Without a length, a complete body cannot be distinguished from an interrupted one.
  if (length === undefined && headers['transfer-encoding'] === undefined) {
    throw sourceUnusableFailure('it does not say how long the file is (no Content-Length)');
  }
  if (length === undefined) return null;
  if (Number(length) >= refusedSize) throw sourceTooLargeFailure(refusedSize);
  return Number(length);
}

async function writeBody(
  { body }: HttpResponse,
  path: string,
  { refusedSize, clock, signal }: { refusedSize: number; clock: Clock; signal: AbortSignal },
): Promise<void> {
  // Opened first: otherwise a failed download could leave a file that is created later.
  const file = await open(path, 'wx', FILE_MODE);
  const target = file.createWriteStream();
  const stopWatching = watchFlow(body, () => target.bytesWritten, clock);
  try {
    await pipeline(countBytes(readChunks(body), refusedSize), target, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    stopWatching();
    await file.close();
  }
}

/** Reports errors of the transfer as faults of the source, but not errors of the local file. */
async function* readChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
  } catch (error) {
    throw sourceUnreachableFailure(`the transfer failed: ${describeNetworkError(error)}`, error);
  }
}

async function* countBytes(chunks: AsyncIterable<Buffer>, refusedSize: number): AsyncGenerator<Buffer> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size >= refusedSize) throw sourceTooLargeFailure(refusedSize);
    yield chunk;
  }
  if (size === 0) throw sourceUnusableFailure('the file is empty');
}

/** Another attempt may succeed. */
function sourceUnreachableFailure(what: string, cause?: unknown): JobFailure {
  return new JobFailure('SOURCE_UNREACHABLE', describeUnfetched(what), { cause });
}

/** A definite answer: another attempt would get the same. */
function sourceUnusableFailure(what: string, cause?: unknown): JobFailure {
  return new JobFailure('SOURCE_UNREACHABLE', describeUnfetched(what), { cause, permanent: true });
}

function describeUnfetched(what: string): string {
  return `the source could not be fetched: ${what}; check the address and try again, ${ADVICE}`;
}

/** Does not name the target of a redirect, which may be private to the other server. */
function sourceBlockedFailure(error: AddressBlocked, isRedirected: boolean): JobFailure {
  const subject = isRedirected ? 'it redirects to an address that may not be fetched: ' : '';
  const message = `the source may not be fetched: ${subject}${error.message}; name a public https address, ${ADVICE}`;
  return new JobFailure('SOURCE_BLOCKED', message, { cause: error });
}

function sourceTooLargeFailure(refusedSize: number): JobFailure {
  const mebibytes = refusedSize / 1024 ** 2;
  return new JobFailure(
    'SOURCE_TOO_LARGE',
    `the source is too large: it must be under ${mebibytes} MiB; make it smaller, or cut it into parts`,
  );
}
