/** Makes inputs available to the service, once for each input, and returns what a request names them by. */

import { type Failure, refusedFailure, timeoutFailure } from '../../base/failure.ts';
import type { Client, Job } from '../../client/index.ts';
import { requestIdOf } from '../../client/read/record.ts';
import { checkLines } from '../../protocol/requests.ts';
import { isTerminal } from '../../protocol/states.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { unsuccessfulJobFailure } from '../deliver/deliver-results.ts';
import { type FileInput, isPrepared } from '../input.ts';
import type { BatchItem } from '../item.ts';
import type { Batch } from './batch.ts';
import type { Preparations } from './preparations.ts';
import type { Stopping } from './stopping.ts';
import type { ProvidedSource, UploadProvider } from './uploads.ts';

export interface SourceProvider {
  /**
   * @param order of the item in the batch
   * @throws Failure, Stopped
   */
  provide(item: BatchItem, order: number): Promise<ProvidedSource>;
  /** Removes an upload that the service no longer accepts, so that the file is uploaded again. */
  forget(uploadId: string): Promise<void>;
}

interface SourceParts {
  readonly batch: Batch;
  readonly uploads: UploadProvider;
  readonly preparations: Preparations;
  readonly stopping: Stopping;
}

/** Content type of all prepared files. */
const MADE_TYPE = 'video/mp4';

const NOTHING_TO_FREE = () => undefined;

export function createSources({ batch, uploads, preparations, stopping }: SourceParts): SourceProvider {
  /** Uploads the prepared file under the name of the original; records have the hash of the original. */
  async function provideMade(item: BatchItem, input: FileInput, order: number): Promise<ProvidedSource> {
    const source = await preparations.open(item, input, order);
    try {
      const [file] = source.files;
      if (file === undefined) throw new TypeError('nothing was made of the file');
      const made = { sha256: file.sha256, ensure: () => source.ensure(0) };
      const { path, bytes } = file;
      const sent = { path, bytes, mtimeMs: 0, contentType: MADE_TYPE, made };
      const provided = await uploads.provide(item, sent, order);
      const use = () => {
        provided.use();
        source.release();
      };
      return { ...provided, sha256: source.sha256, use };
    } catch (error) {
      source.release();
      throw error;
    }
  }

  async function provideFile(item: BatchItem, input: FileInput, order: number): Promise<ProvidedSource> {
    const { made = null } = input;
    const provided = await uploads.provide(item, { ...input, made }, order);
    const use = () => {
      provided.use();
      made?.use();
    };
    return { ...provided, use };
  }

  return {
    async provide(item, order) {
      const { input, units } = item;
      const named = { sha256: null, units, use: NOTHING_TO_FREE };
      switch (input.type) {
        case 'url':
          return { ...named, source: { type: 'url', url: input.url } };
        case 'upload':
          return { ...named, source: { type: 'upload', upload_id: input.id } };
        case 'lines':
          return { ...named, source: { type: 'lines', lines: [...input.lines] }, sha256: input.sha256 };
        case 'job': {
          const { client } = batch.connection;
          const lines = await linesOfJob(client, input.reference, stopping.launching);
          return { ...named, source: { type: 'lines', lines } };
        }
        case 'unusable':
          throw new TypeError(`${input.label} cannot be sent: ${input.detail}`);
        case 'file':
          return isPrepared(input) ? provideMade(item, input, order) : provideFile(item, input, order);
      }
    },
    forget: uploads.forget,
  };
}

/**
 * Reads a job and returns the subtitle lines of its result.
 * @throws Failure: `timeout` while it runs, `job` if it did not succeed, `refused` if the service sends no usable lines
 */
export async function linesOfJob(
  client: Pick<Client, 'jobs'>,
  reference: string,
  signal: AbortSignal,
): Promise<SubtitleLine[]> {
  const job = await client.jobs.find(reference, { signal });
  if (!isTerminal(job.status)) throw stillRunningFailure(job);
  const failed = unsuccessfulJobFailure(job);
  if (failed !== null) throw failed;
  const checked = checkLines(job.result?.lines);
  if (checked.ok) return checked.value;
  const [first] = checked.errors;
  const requestId = requestIdOf(job);
  throw refusedFailure(
    'ANSWER_INCOMPLETE',
    `the result of ${job.id} has no usable \`lines\`: ${first?.pointer ?? ''} ${first?.detail ?? ''}`,
    `Download its subtitle and name the file: \`vloc jobs download ${job.id}\``,
    { jobId: job.id, ...(requestId === null ? {} : { requestId }) },
  );
}

function stillRunningFailure(job: Job): Failure {
  return timeoutFailure(
    'STILL_RUNNING',
    `the job ${job.id} is still ${job.status}, so it has no lines yet`,
    `Wait for it, then run this again: \`vloc jobs wait ${job.id}\``,
    { jobId: job.id, retryable: true },
  );
}
