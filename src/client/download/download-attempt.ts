/** One attempt at the bytes that are still missing. */
import { basename } from 'node:path';
import { Failure } from '../failure.ts';
import { resolveTransferUrl } from '../transport/base-url.ts';
import { describeNetworkError } from '../transport/describe-error.ts';
import type { Outcome } from '../transport/retry-loop.ts';
import { startTimeLimit, type TimeLimit } from '../transport/time-limit.ts';
import { readDownloadAnswer } from './download-answer.ts';
import { addressRefused, damaged, misfit } from './download-failure.ts';
import { type OpenDownload, openDownload } from './download-request.ts';
import { type Download, needsHash } from './download-state.ts';
import { receiveBody, TooManyBytes } from './receive.ts';
import { renewLink } from './renew-link.ts';

/** So much new in one attempt means that the line works, if not for long. */
const PROGRESS_BYTES = 1024 ** 2;

/**
 * Fetches what is missing and checks the whole.
 * @throws Failure for what no other attempt can mend; the reason of the caller's signal
 */
export async function attemptDownload(download: Download, number: number): Promise<Outcome<void>> {
  const { context, part, state, options } = download;
  const url = resolveTransferUrl(context.base, state.asset.url);
  if (url === null) throw addressRefused();
  // Without hash and validator nothing would tell that the rest belongs to the same file.
  if (state.asset.sha256 === null && state.etag === null) await part.restart(needsHash(state.asset, options));
  if (part.length > 0 && part.length === state.asset.size_bytes) return verify(download);
  const from = part.length;
  const { timeouts } = context;
  const http = await context.transfers();
  const limit = startTimeLimit(timeouts.connectMs + timeouts.idleMs, options.signal);
  try {
    const request = { from, etag: state.etag, signal: limit.signal, attempt: number };
    return await receive(download, await openDownload(context, http, url, request), limit);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof Failure) throw error;
    if (error instanceof TooManyBytes) return startOver(download, damaged(basename(options.to)));
    const progressed = part.length - from >= PROGRESS_BYTES;
    return { type: 'failed', ...describeNetworkError(error, url.host), progressed };
  } finally {
    limit.clear();
  }
}

async function receive(download: Download, opened: OpenDownload, limit: TimeLimit): Promise<Outcome<void>> {
  const { context, part, state, options } = download;
  const { response, host } = opened;
  const { size_bytes: size, sha256 } = state.asset;
  const wanted = { offset: part.length, size, hashed: sha256 !== null };
  const answer = readDownloadAnswer(response, wanted, context.clock.now());
  if (answer.type !== 'body') response.discard();
  if (answer.type === 'failed') return answer;
  if (answer.type === 'link-refused') return renewLink(download, answer.status);
  if (answer.type === 'misfit') return startOver(download, misfit(basename(options.to)));
  const { from, total } = answer;
  if (from === 0 && part.length > 0) await part.restart(needsHash(state.asset, options));
  state.etag = strongEtag(response.headers.etag);
  await receiveBody(response.body, part, {
    limit,
    idleMs: context.timeouts.idleMs,
    total: total ?? Number.POSITIVE_INFINITY,
    onBytes: (bytes) => options.onProgress?.(bytes, total),
  });
  return total !== null && part.length < total ? cutOff(host) : verify(download);
}

/** Weak validators (`W/`) may not be used with Range. Source: RFC 9110, 13.1.5. */
function strongEtag(etag: string | undefined): string | null {
  return etag !== undefined && /^"[^"]*"$/.test(etag) ? etag : null;
}

function cutOff(host: string): Outcome<void> {
  const code = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
  const error = Object.assign(new Error('the body ended early'), { code });
  return { type: 'failed', ...describeNetworkError(error, host) };
}

async function verify(download: Download): Promise<Outcome<void>> {
  const { part, state, options } = download;
  const { sha256 } = state.asset;
  if (sha256 === null || part.digest() === sha256) return { type: 'done', value: undefined };
  return startOver(download, damaged(basename(options.to)));
}

/** Throws the part away; once per download, since a second time the fault is not in the part. */
async function startOver(
  { context, part, state, options }: Download,
  failure: Failure,
): Promise<Outcome<void>> {
  await part.restart(needsHash(state.asset, options));
  state.etag = null;
  if (state.restarted) throw failure;
  state.restarted = true;
  context.emit({
    type: 'notice',
    code: 'DOWNLOAD_RESTARTED',
    message: `${failure.message}; it is fetched from its beginning`,
  });
  return { type: 'failed', failure, advice: { type: 'at-once' } };
}
