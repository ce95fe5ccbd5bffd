/** Downloads a result: `.part`, Range, checks, rename. Source: design, "Wait, outputs, money"; contract, "Jobs". */
import { unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Failure, isApiAnswer } from '../../base/failure.ts';
import type { FindInput } from '../../base/find-input.ts';
import { collectStart } from '../../base/http.ts';
import { HEAD_BYTES, type ResultFormat } from '../../protocol/result-formats.ts';
import type { Asset } from '../read/resources.ts';
import type { TransferContext } from '../transport/context.ts';
import { startTimeLimit, type TimeLimit } from '../transport/http.ts';
import { describeNetworkError } from '../transport/network-error.ts';
import { resolveTransferUrl } from '../transport/request.ts';
import { type AttemptResult, withRetries } from '../transport/retry.ts';
import { ERROR_PAGE_BYTES, type StorageRefusal } from '../transport/storage-refusal.ts';
import {
  addressRefusedFailure,
  damagedDownloadFailure,
  linkRefusedFailure,
  mayBeFile,
  noRoomFailure,
  notResultFailure,
  rangeMismatchFailure,
  readDownloadAnswer,
  readValidator,
  resultExpiredFailure,
  slowDownloadFailure,
  type Validator,
} from './download-answer.ts';
import { openPartFile, type PartFile, partOf, prepareTarget, publishPart, refuseInput } from './part-file.ts';
import {
  LEAST_BYTES,
  type OpenDownload,
  openDownload,
  receiveBody,
  TooManyBytes,
  TooSlow,
} from './receive.ts';

/**
 * Fetches a file with constant memory; under its name it is either whole and checked, or not there at all.
 * @throws Failure: `expired` when the address has expired permanently, `disk`, `usage` when the target exists, `temporary`;
 *   the part stays for the next run, unless its bytes are wrong
 */
export async function downloadAsset(
  context: TransferContext,
  asset: Asset,
  options: DownloadOptions,
): Promise<DownloadedFile> {
  const { to, overwrite = false, findInput } = options;
  const path = options.part ?? partOf(to);
  for (const written of [to, path]) await refuseInput(written, findInput);
  await prepareTarget(to, overwrite);
  const part = await openPartFile(path, { keep: asset.sha256 !== null, hashed: needsHash(asset, options) });
  try {
    const state: DownloadState = {
      asset,
      validator: null,
      total: null,
      refreshed: false,
      restarted: false,
    };
    await withRetries(context, { signal: options.signal }, (number) =>
      attemptDownload({ context, part, state, options }, number),
    );
    const finished = { path: to, bytes: part.length, sha256: part.digest() };
    await part.seal();
    if (options.isPart !== true) await publishPart(path, to, overwrite, findInput);
    return finished;
  } catch (error) {
    await leave(part);
    throw error;
  }
}

/** Closes the part, and removes an empty one. */
async function leave(part: PartFile): Promise<void> {
  await part.close().catch(() => {});
  if (part.length === 0) await unlink(part.path).catch(() => {});
}

/** State that each attempt passes to the next. */
interface DownloadState {
  asset: Asset;
  /** ETag or date of the bytes in the part, as this run saw it. */
  validator: Validator | null;
  /** Length of the whole file, from a response. */
  total: number | null;
  /** Each is tried once. */
  refreshed: boolean;
  restarted: boolean;
}

interface Download {
  readonly context: TransferContext;
  readonly part: PartFile;
  readonly state: DownloadState;
  readonly options: DownloadOptions;
}

/** A hash costs as much as writing the file: it is taken to check the bytes by it, or when the caller wants it. */
function needsHash(asset: Asset, { hash = false }: DownloadOptions): boolean {
  return hash || asset.sha256 !== null;
}

/** An attempt that received this much made progress, even if the connection then broke. */
const PROGRESS_BYTES = 1024 ** 2;

/**
 * Downloads what is missing and checks the whole.
 * @throws Failure that no other attempt can change; the reason of the caller's signal
 */
async function attemptDownload(download: Download, number: number): Promise<AttemptResult<void>> {
  const { context, part, state, options } = download;
  const url = resolveTransferUrl(context.base, state.asset.url);
  if (url === null) throw addressRefusedFailure();
  // Without hash and validator it is unknown whether the rest belongs to the same file.
  if (state.asset.sha256 === null && state.validator === null) {
    await part.restart(needsHash(state.asset, options));
  }
  if (part.length > 0 && part.length === state.asset.size_bytes) return verify(download, url.host);
  const from = part.length;
  const { timeouts, runtime } = context;
  const limit = startTimeLimit(timeouts.connectMs + timeouts.idleMs, options.signal, runtime);
  try {
    const request = { from, validator: state.validator, signal: limit.signal, attempt: number };
    const { authorization } = options;
    return await receive(download, await openDownload(context, url, { ...request, authorization }), limit);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof Failure) throw error;
    if (error instanceof TooManyBytes)
      return startOver(download, damagedDownloadFailure(basename(options.to)));
    const progressed = part.length - from >= PROGRESS_BYTES;
    return { type: 'failed', ...describeLine(error, limit, url.host), progressed };
  } finally {
    limit.clear();
  }
}

/** The network error, with figures when the connection was too slow. */
function describeLine(error: unknown, { signal }: TimeLimit, host: string) {
  const described = describeNetworkError(error, host);
  const { reason } = signal;
  if (!(reason instanceof TooSlow)) return described;
  return { ...described, failure: slowDownloadFailure(host, reason.bytes, reason.ms, LEAST_BYTES) };
}

async function receive(
  download: Download,
  opened: OpenDownload,
  limit: TimeLimit,
): Promise<AttemptResult<void>> {
  const { context, part, state, options } = download;
  const { response, host } = opened;
  const { size_bytes: size, sha256 } = state.asset;
  const page = mayBeFile(response, sha256 !== null)
    ? Buffer.alloc(0)
    : await collectStart(response, ERROR_PAGE_BYTES);
  const wanted = {
    host,
    offset: part.length,
    validator: state.validator,
    size,
    earlierTotal: state.total,
    hashed: sha256 !== null,
    format: options.format ?? null,
  };
  const { status, headers } = response;
  const answer = readDownloadAnswer({ status, headers, page }, wanted, context.clock.now());
  if (answer.type !== 'body') response.discard();
  if (answer.type === 'failed') return answer;
  if (answer.type === 'link-refused') return renewLink(download, answer.refusal);
  if (answer.type === 'misfit')
    return startOver(download, rangeMismatchFailure(basename(options.to), answer.why));
  const { from, total } = answer;
  if (from === 0 && part.length > 0) await part.restart(needsHash(state.asset, options));
  state.validator = readValidator(headers);
  state.total = total;
  const room = await findRoom(download, total).catch((error: unknown) => {
    response.discard();
    throw error;
  });
  await receiveBody(response.body, part, {
    limit,
    idleMs: context.timeouts.idleMs,
    total,
    room,
    onBytes: (bytes) => options.onProgress?.(bytes, total),
    noRoom: () => noRoomFailure(basename(options.to), dirname(options.to), null, room),
  });
  return total !== null && part.length < total ? cutOff(host) : verify(download, host);
}

/** Free bytes on the disk for the rest of the file. @throws Failure (`disk`) when they are too few, before any is written */
async function findRoom({ context, part, options }: Download, total: number | null): Promise<number> {
  const free = (await context.runtime.freeBytes(dirname(part.path))) ?? Number.POSITIVE_INFINITY;
  const needed = total === null ? 0 : total - part.length;
  if (needed > free) throw noRoomFailure(basename(options.to), dirname(options.to), needed, free);
  return free;
}

function cutOff(host: string): AttemptResult<void> {
  const code = 'ERR_STREAM_PREMATURE_CLOSE';
  const error = Object.assign(new Error('the body ended early'), { code });
  return { type: 'failed', ...describeNetworkError(error, host) };
}

async function verify(download: Download, host: string): Promise<AttemptResult<void>> {
  const { part, state, options } = download;
  const { sha256 } = state.asset;
  if (sha256 === null) return verifyHead(download, host);
  if (part.digest() === sha256) return { type: 'done', value: undefined };
  return startOver(download, damagedDownloadFailure(basename(options.to)));
}

/** Without a hash the first bytes must show that it is a file of the right kind, and no page that passes for one. */
async function verifyHead({ part, state, options }: Download, host: string): Promise<AttemptResult<void>> {
  const { format } = options;
  const isEmpty = part.length === 0 && state.asset.size_bytes !== 0;
  if (!isEmpty && (format === undefined || format.matches(await part.head(HEAD_BYTES)))) {
    return { type: 'done', value: undefined };
  }
  await part.restart(needsHash(state.asset, options));
  const what = format === undefined ? 'the result' : `the ${format.name}`;
  const failure = notResultFailure(
    isEmpty ? `${host} sent an empty body instead of ${what}` : `${host} sent something other than ${what}`,
  );
  return { type: 'failed', failure, advice: { type: 'backoff', cause: 'fault', askedMs: null } };
}

/** Throws the part away; once per download, since a second time the fault is not in the part. */
async function startOver(
  { context, part, state, options }: Download,
  failure: Failure,
): Promise<AttemptResult<void>> {
  await part.restart(needsHash(state.asset, options));
  state.validator = null;
  state.total = null;
  if (state.restarted) throw failure;
  state.restarted = true;
  context.emit({
    type: 'notice',
    code: 'DOWNLOAD_RESTARTED',
    message: `${failure.message}; it is downloaded from the beginning`,
  });
  return { type: 'failed', failure, advice: { type: 'at-once' } };
}

/**
 * @param refusal the answer that refused the link
 * @throws Failure when the job has no other link, or was asked before
 */
async function renewLink(download: Download, refusal: StorageRefusal): Promise<AttemptResult<void>> {
  const { context, part, state, options } = download;
  const name = basename(options.to);
  const refusedUntil = (expiresAt: string | null) => linkRefusedFailure(name, refusal, expiresAt);
  if (state.refreshed || options.refresh === undefined) throw refusedUntil(state.asset.expires_at);
  state.refreshed = true;
  const renewed = await readAgain(options.refresh, () => resultExpiredFailure(name, refusal.said));
  if (renewed === null || !isOther(state.asset, renewed))
    throw refusedUntil((renewed ?? state.asset).expires_at);
  if (renewed.sha256 !== state.asset.sha256) await part.restart(needsHash(renewed, options));
  state.asset = renewed;
  const message = 'the download address was refused; the service returned a new one';
  context.emit({ type: 'notice', code: 'LINK_REFRESHED', message });
  return { type: 'failed', failure: refusedUntil(renewed.expires_at), advice: { type: 'at-once' } };
}

/** A job that is gone has no other address either. */
async function readAgain(refresh: () => Promise<Asset | null>, gone: () => Error): Promise<Asset | null> {
  try {
    return await refresh();
  } catch (error) {
    if (isApiAnswer(error, 404)) throw gone();
    throw error;
  }
}

function isOther(before: Asset, after: Asset): boolean {
  return before.url !== after.url || Date.parse(after.expires_at ?? '') > Date.parse(before.expires_at ?? '');
}

/** A file that was downloaded and checked. */
export interface DownloadedFile {
  /** The name that it gets. */
  readonly path: string;
  readonly bytes: number;
  /** SHA-256 of the bytes on disk, lower-case hex; null where the service states none and `hash` did not ask for it. */
  readonly sha256: string | null;
}

/** How one file of a result is downloaded. */
export interface DownloadOptions {
  /** Path of the finished file; its folder is made when it is missing. */
  readonly to: string;
  /** Path of the unfinished one, in the same folder; default `.NAME.part`. */
  readonly part?: string | undefined;
  /** Sent to the origin of the address, and to no other that it redirects to. */
  readonly authorization?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((bytes: number, total: number | null) => void) | undefined;
  /** Reads the job once more when the link is refused; null when there is no other. */
  readonly refresh?: (() => Promise<Asset | null>) | undefined;
  /** True computes the SHA-256 even where the service states none, for a record of the file. */
  readonly hash?: boolean | undefined;
  /**
   * Expected properties of the file. Where the service states no hash, its type and its first bytes are checked against it; left
   * out, only web pages and empty bodies are refused then.
   */
  readonly format?: ResultFormat | undefined;
  /** True leaves the whole file, checked and durable, in its part: the caller gives it its name. */
  readonly isPart?: boolean | undefined;
  /** Default false: an existing target is not changed. */
  readonly overwrite?: boolean | undefined;
  /** Returns the input of the user at a path, which is never replaced, even with `overwrite`; null for other files. */
  readonly findInput?: FindInput | undefined;
}
