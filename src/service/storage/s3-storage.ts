/**
 * Uploads and results in a bucket of S3. Callers send and fetch the bytes there, by presigned addresses; a worker has a copy of
 * its input in its work folder.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { JobFailure } from '../../protocol/job-failure.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { type Clock, sleepFor } from '../clock.ts';
import { FILE_MODE } from '../folders.ts';
import type { Log } from '../log.ts';
import { type Bucket, BucketRefusal, type BucketRequest } from './bucket.ts';
import { type ServiceStorage, StorageAway, type StoredEntry } from './storage.ts';

const MINUTE_MS = 60_000;
/** An hour: what has no record is rare, and reading a long listing takes many requests. */
const SWEEP_MS = 60 * 60_000;

/** 1 MiB, so that a large file needs few reads. */
const READ_BYTES = 1024 ** 2;

/** Waits between the tries of a request that a caller waits for. */
const SHORT_WAITS_MS = [100, 400];
/**
 * Waits between the tries to store a result, five minutes in all: computing it again takes longer than a restart of the storage.
 * At most 15 s, so that work goes on soon after it. After the last one the job goes back to the queue.
 */
const LONG_WAITS_MS = [500, 1000, 2000, 4000, 8000, ...Array.from({ length: 19 }, () => 15_000)];

export interface S3Parts {
  readonly bucket: Bucket;
  /** Start of all names. */
  readonly prefix: string;
  /** The clock of the service, which a test may move. */
  readonly clock: Clock;
  /** The real time, which the storage shares; ms since 1970. */
  readonly now: () => number;
  readonly log: Log;
  /** Checks that the bucket still belongs to the cluster. @throws BucketRefusal, StorageAway */
  readonly isOurs: () => Promise<void>;
}

export function createS3Storage({ bucket, prefix, clock, now, log, isOurs }: S3Parts): ServiceStorage {
  const uploadKey = (file: string) => `${prefix}uploads/${file}`;
  const resultKey = (folder: string, name = '') => `${prefix}assets/${folder}/${name}`;
  /** How far a test has moved the clock of the service, in whole minutes, so that an address stays the same while both run on. */
  const moved = () => Math.round((clock.now() - now()) / MINUTE_MS) * MINUTE_MS;

  /** Sends a request again after temporary errors. @throws StorageAway */
  const insist = async <Result>(
    work: () => Promise<Result>,
    waits: readonly number[] = SHORT_WAITS_MS,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<Result> => {
    for (let tries = 0; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        signal.throwIfAborted();
        const isPassing = error instanceof StorageAway && !isAboutObject(error);
        const wait = waits[tries];
        if (!isPassing || wait === undefined) throw error;
        if (waits === LONG_WAITS_MS)
          log({ level: 'warn', message: 'a result is not stored yet; it is tried again', error });
        await sleepFor(clock, wait, signal);
      }
    }
  };

  /** Sends a request whose answer has no body that matters. */
  const sendEmpty = async (request: BucketRequest) => {
    const { headers, body } = await bucket.send(request);
    body.resume();
    return headers;
  };

  /** Removes all objects whose names begin with a text. */
  const removeAll = async (start: string) => {
    for await (const { key } of bucket.list(start)) await remove(key);
  };
  const remove = (key: string) => insist(() => sendEmpty({ method: 'DELETE', key }));

  return {
    sharesFolder: false,
    sweepEveryMs: SWEEP_MS,
    reserveFile: (id) => id,

    async uploadTarget({ id, content_type, size_bytes, expires_at }) {
      const until = expires_at - moved();
      const url = await bucket.presign({
        method: 'PUT',
        key: uploadKey(id),
        headers: { 'content-type': content_type, 'content-length': String(size_bytes) },
        from: until - LIMITS.uploadLinkMs,
        until,
      });
      return { url, headers: { 'Content-Type': content_type } };
    },
    async findUpload({ id }) {
      const key = uploadKey(id);
      try {
        const headers = await insist(() => sendEmpty({ method: 'HEAD', key, isAwaited: true }));
        return { sizeBytes: Number(headers['content-length']), etag: bare(headers.etag) };
      } catch (error) {
        if (!isAboutObject(error)) throw error;
        // The whole bucket may be missing, which only a listing reports.
        await insist(() =>
          bucket.read({
            ...{ method: 'GET', key: '', isAwaited: true },
            query: { 'list-type': '2', prefix: key, 'max-keys': '1' },
          }),
        );
        return null;
      }
    },
    pathOf: () => null,
    async fetchUpload({ file, size_bytes: size, etag, sha256 }, { folder, signal }) {
      const path = join(folder, 'uploaded-source');
      try {
        const found = await insist(
          () => download(bucket, uploadKey(file), path, { etag, signal }),
          SHORT_WAITS_MS,
          signal,
        );
        if (found.size !== size || (sha256 !== null && found.sha256 !== sha256)) throw objectChangedFailure();
        return path;
      } catch (error) {
        await rm(path, { force: true });
        if (!isAboutObject(error)) throw error;
        if (error.code === 'PreconditionFailed') throw objectChangedFailure();
        throw new JobFailure('STORAGE_ERROR', 'the uploaded file is gone; upload it again');
      }
    },
    removeUpload: async (file) => void (await remove(uploadKey(file))),

    async storeResult(folder, files, { signal }) {
      for (const [name, { path, contentType, sizeBytes: bytes, sha256 }] of Object.entries(files)) {
        // The storage checks the hash, which is part of the signature.
        const open = () => createReadStream(path, { highWaterMark: READ_BYTES });
        const headers = { 'content-type': contentType };
        const put: BucketRequest = {
          ...{ method: 'PUT', key: resultKey(folder, name), headers, signal },
          body: { bytes, sha256, open },
        };
        await insist(() => sendEmpty(put), LONG_WAITS_MS, signal).catch((error: unknown) => {
          throw isAboutObject(error) ? objectTooLargeFailure() : error;
        });
      }
    },
    resultUrl({ folder, name, contentType, fileName, expiresAt }) {
      const until = expiresAt - moved();
      return bucket.presign({
        method: 'GET',
        key: resultKey(folder, name),
        query: {
          'response-content-type': contentType,
          'response-content-disposition': `attachment; filename="${fileName}"`,
        },
        from: until - LIMITS.resultLinkMs,
        until,
      });
    },
    removeResult: (folder) => insist(() => removeAll(resultKey(folder))),
    removeResultsOf: (jobId) => insist(() => removeAll(`${prefix}assets/${jobId}-`)),

    async *listUploads() {
      for await (const { key, modifiedAt } of bucket.list(uploadKey(''))) {
        const file = key.slice(uploadKey('').length);
        if (UPLOAD.test(file)) yield entry(file, modifiedAt);
      }
    },
    async *listResults() {
      let last = '';
      for await (const { key, modifiedAt } of bucket.list(`${prefix}assets/`)) {
        const [folder = ''] = key.slice(`${prefix}assets/`.length).split('/');
        // Names are in order, so that the files of a folder follow each other.
        if (ATTEMPT.test(folder) && folder !== last) yield entry(folder, modifiedAt);
        last = folder;
      }
    },
    check: () => insist(isOurs, []),
    close: () => bucket.close(),
  };
}

/** Names of the objects of this service. All others in the bucket are not its own. */
const UPLOAD = /^upl_[0-9a-z]{26}$/;
/** With hyphens in the last part if an older version named it, in a state folder whose account was moved. */
const ATTEMPT = /^[a-z]{3}_[0-9a-z]{26}-[0-9a-f-]+$/;

/** Codes of S3 that say something about one object; all others are about the storage or the rights of the service. */
const ABOUT_THE_OBJECT = ['NoSuchKey', 'PreconditionFailed', 'EntityTooLarge'];

function isAboutObject(error: unknown): error is BucketRefusal {
  return error instanceof BucketRefusal && ABOUT_THE_OBJECT.includes(error.code);
}

function objectTooLargeFailure(): JobFailure {
  return new JobFailure('STORAGE_ERROR', 'the result is larger than the storage accepts');
}

function objectChangedFailure(): JobFailure {
  return new JobFailure(
    'STORAGE_ERROR',
    'the uploaded file was replaced after it had been completed; upload it again',
  );
}

function bare(etag: string | undefined): string {
  return (etag ?? '').replaceAll('"', '').toLowerCase();
}

function entry(name: string, modifiedAt: number): StoredEntry {
  return { name, modifiedAt: async () => modifiedAt };
}

/** Writes an object into a new file. @throws StorageAway if it breaks off */
async function download(
  bucket: Bucket,
  key: string,
  path: string,
  { etag, signal }: { etag: string | null; signal: AbortSignal },
): Promise<{ size: number; sha256: string }> {
  const headers = etag === null ? {} : { 'if-match': `"${etag}"` };
  const { headers: received, body } = await bucket.send({ method: 'GET', key, headers, signal });
  if (received.etag === undefined) {
    body.destroy();
    throw new StorageAway('something in front of the storage answered instead of it');
  }
  const hash = createHash('sha256');
  let size = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  const file = createWriteStream(path, { mode: FILE_MODE, highWaterMark: READ_BYTES });
  let isOfDisk = false;
  file.on('error', () => {
    isOfDisk = true;
  });
  try {
    await pipeline(body, count, file, { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (isOfDisk && !body.errored) throw error;
    throw new StorageAway('a download from the storage broke off', { cause: error });
  }
  return { size, sha256: hash.digest('hex') };
}
