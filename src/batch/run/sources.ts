/** Inputs made into what a request names: once for each input, however many languages share it. */
import type { BatchItem } from '../item.ts';
import type { Batch } from './batch.ts';
import { linesOfJob } from './lines-of-job.ts';
import type { Provided } from './provided.ts';
import type { Stopping } from './stopping.ts';
import type { Uploads } from './uploads.ts';

export interface Sources {
  /**
   * @param order of the item in the batch
   * @throws Failure, Stopped
   */
  provide(item: BatchItem, order: number): Promise<Provided>;
  /** The service does not take this upload any more: forgets it, so that the file is sent anew. */
  forget(item: BatchItem, uploadId: string): Promise<void>;
}

const NOTHING_TO_FREE = () => undefined;

export function createSources(batch: Batch, uploads: Uploads, stopping: Stopping): Sources {
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
        case 'file':
          return uploads.provide(item, input, order);
      }
    },
    async forget({ input }, uploadId) {
      if (input.type === 'file') await uploads.forget(input.path, uploadId);
    },
  };
}
