/**
 * The worker that validates uploads: from `validating` to `ready` or `failed`. Source: contract, "Uploads"
 * (validation).
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hashFile } from '../../base/hash-file.ts';
import type { Engines } from '../../engines/engine.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Media } from '../../protocol/media.ts';
import { countCharacters } from '../../protocol/metering.ts';
import { decodeSrt, SubtitleError } from '../../protocol/srt.ts';
import type { UploadPurpose } from '../../protocol/states.ts';
import type { ServiceContext } from '../context.ts';
import { FOLDER_MODE, nameAttempt } from '../folders.ts';
import type { Lease, Leases } from '../running/leases.ts';
import { CrashedTooOften, type LeaseWorker, retryDelayMs, startWorker } from '../running/worker.ts';
import type { UploadFile } from '../storage/storage.ts';
import type { SubtitleFacts } from './rows.ts';

/** One at a time: validation decodes the whole video, which keeps one core busy. The other cores are for jobs. */
const SLOTS = 1;

/** Starts the worker. It also resumes the unfinished work of other processes. */
export function startValidation(context: ServiceContext, leases: Leases, owner: string): LeaseWorker {
  return startWorker({
    leases,
    clock: context.clock,
    log: context.log,
    slots: Math.min(SLOTS, context.config.workers),
    onStuck: context.onStuck,
    work: (lease, signal) => validate(context, owner, lease, signal),
    async fail(lease, error) {
      context.log({ level: 'error', message: 'a validation failed', resourceId: lease.id, error });
      if (error instanceof CrashedTooOften || lease.attempt >= context.config.attempts) {
        await recordFailure(context, lease.id, lastFailure(error, context.config.attempts));
        return;
      }
      const runAfter = context.clock.now() + retryDelayMs(lease.attempt);
      await leases.release(lease.id, { runAfter, counted: true });
    },
  });
}

/** Records a failure. If its bytes cannot be removed, the sweep removes them, because no record names them. */
async function recordFailure(context: ServiceContext, id: string, finding: Finding): Promise<void> {
  const { store, storage } = context;
  const row = await store.get<{ file: string | null }>('SELECT file FROM uploads WHERE id = ?', id);
  await record(context, id, finding);
  if (row?.file != null) await storage.removeUpload(row.file).catch(() => {});
}

async function validate(
  context: ServiceContext,
  owner: string,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const row = await context.store.get<UploadFile & { purpose: UploadPurpose }>(
    'SELECT file, etag, sha256, size_bytes, purpose FROM uploads WHERE id = ?',
    lease.id,
  );
  if (row === undefined) return;
  const local = context.storage.pathOf(row.file);
  const finding =
    local === null
      ? await inspectCopy(context, row, nameAttempt(lease.id, owner), signal)
      : await inspect(context, row.purpose, local, signal);
  if (finding.status === 'failed') await recordFailure(context, lease.id, finding);
  else await record(context, lease.id, finding);
}

/** Inspects a copy of an upload that is not on this machine, and returns its hash, too. */
async function inspectCopy(
  context: ServiceContext,
  row: UploadFile & { purpose: UploadPurpose },
  attempt: string,
  signal: AbortSignal,
): Promise<Finding> {
  const folder = join(context.folders.work, attempt);
  const giveBack = await context.scratch.reserve(row.size_bytes);
  try {
    await mkdir(folder, { mode: FOLDER_MODE });
    const path = await context.storage.fetchUpload(row, { folder, signal });
    const finding = await inspect(context, row.purpose, path, signal);
    return finding.status === 'ready' ? { ...finding, sha256: await hashFile(path) } : finding;
  } catch (error) {
    if (!(error instanceof JobFailure) || error.code !== 'STORAGE_ERROR') throw error;
    // The object is gone or was replaced since its completion: another attempt would find the same.
    return { status: 'failed', code: 'UPLOAD_ETAG_MISMATCH', message: error.message };
  } finally {
    giveBack();
    await rm(folder, { recursive: true, force: true });
  }
}

function brokenOff(attempts: number): Finding {
  const message = `validation failed after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}; upload the file again`;
  return { status: 'failed', code: 'INTERNAL_ERROR', message };
}

/** The message of a failed engine may be shown to the caller; the message of an unexpected error may not. */
function lastFailure(error: unknown, attempts: number): Finding {
  if (error instanceof CrashedTooOften) {
    const message = `${error.message} while it validated this file; upload it again`;
    return { status: 'failed', code: 'INTERNAL_ERROR', message };
  }
  if (!(error instanceof JobFailure)) return brokenOff(attempts);
  return { status: 'failed', code: 'INTERNAL_ERROR', message: error.message };
}

async function inspect(
  context: ServiceContext,
  purpose: UploadPurpose,
  path: string,
  signal: AbortSignal,
): Promise<Finding> {
  if (purpose === 'subtitle_file') return inspectSubtitle(path);
  return inspectVideo(await context.engines(), path, signal);
}

async function record(context: ServiceContext, id: string, finding: Finding): Promise<void> {
  const text = (value: unknown) => (value === null ? null : JSON.stringify(value));
  const facts =
    finding.status === 'ready'
      ? { media: finding.media, subtitle: finding.subtitle, sha256: finding.sha256 ?? null, error: null }
      : {
          media: null,
          sha256: null,
          subtitle: null,
          error: { code: finding.code, message: finding.message },
        };
  await context.store.run(
    `UPDATE uploads SET status = ?1, media = ?2, subtitle = ?3, error = ?4, updated_at = ?5, sha256 = coalesce(?7, sha256),
       file = CASE ?1 WHEN 'ready' THEN file END, lease_owner = NULL, lease_until = NULL
     WHERE id = ?6 AND status = 'validating'`,
    finding.status,
    text(facts.media),
    text(facts.subtitle),
    text(facts.error),
    context.clock.now(),
    id,
    facts.sha256,
  );
}

type Finding =
  | {
      readonly status: 'ready';
      readonly media: Media | null;
      readonly subtitle: SubtitleFacts | null;
      /** SHA-256 of the bytes that were inspected; omitted if it is on record already. */
      readonly sha256?: string;
    }
  | { readonly status: 'failed'; readonly code: string; readonly message: string };

/** Measures and decodes a video. Throws errors that are not the fault of the file. */
async function inspectVideo(engines: Engines, path: string, signal: AbortSignal): Promise<Finding> {
  try {
    const media = await engines.inspect(path, signal);
    requireUsable(media);
    return { status: 'ready', media, subtitle: null };
  } catch (error) {
    // A temporary error is not the fault of the file.
    if (!(error instanceof JobFailure) || error.retryable) throw error;
    return { status: 'failed', code: 'MEDIA_VALIDATION_FAILED', message: error.message };
  }
}

/** Throws JobFailure for a video above the limits, which apply no matter which engine measured it. */
export function requireUsable(media: Media): void {
  if (media.video === null) throw new JobFailure('MEDIA_UNSUPPORTED', 'the file has no picture');
  if (media.audio === null) throw new JobFailure('NO_AUDIO_STREAM', 'the file has no sound');
  const { duration_seconds: seconds } = media;
  // Rounded to milliseconds, like durations in containers: 900.000 s is accepted, 900.001 s is not.
  const milliseconds = Math.round(seconds * 1000);
  if (milliseconds <= 0 || milliseconds > LIMITS.videoSeconds * 1000) {
    throw new JobFailure(
      'DURATION_EXCEEDED',
      `the video lasts ${seconds} s; at most ${LIMITS.videoSeconds} s are allowed`,
    );
  }
}

/** Reads a subtitle file. Its reservation limits it to less than 10 MiB. */
async function inspectSubtitle(path: string): Promise<Finding> {
  const bytes = await readFile(path);
  try {
    const lines = decodeSrt(bytes);
    const endMs = lines.reduce((latest, line) => Math.max(latest, line.end_ms), 0);
    const characters = countCharacters(lines);
    return {
      status: 'ready',
      media: null,
      subtitle: { lines: lines.length, duration_seconds: endMs / 1000, characters },
    };
  } catch (error) {
    if (!(error instanceof SubtitleError)) throw error;
    return { status: 'failed', code: 'SUBTITLE_VALIDATION_FAILED', message: error.message };
  }
}
