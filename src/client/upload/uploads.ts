import type { UploadRequest } from '../../protocol/request-types.ts';
import type { UploadPurpose, UploadStatus } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import type { ListFilters } from '../jobs/jobs.ts';
import { createPages, createStatusReporter, type Pages, readList } from '../read/record.ts';
import type { Upload } from '../read/resources.ts';
import { readUpload } from '../read/upload.ts';
import type { ClientContext } from '../transport/context.ts';
import { joinPath } from '../transport/request.ts';
import type { Send } from '../transport/send.ts';
import type { SendFileOptions, SentFile } from './send-file.ts';

export interface Uploads extends UploadOperations {
  /** Reserves, streams the file, completes and waits until it is ready; an expired reservation is replaced once. */
  sendFile(path: string, options: SendFileOptions): Promise<SentFile>;
}

/** Every operation throws Failure, or the reason of the signal when that is aborted. */
export function createUploads(context: ClientContext, send: Send): Uploads {
  const onUnknown = createStatusReporter(context.emit);
  const operations: UploadOperations = {
    async create(request, options = {}) {
      const { body, requestId } = await send({ ...options, method: 'POST', path: '/uploads', body: request });
      return readUpload(body, requestId, onUnknown);
    },
    async get(id, options = {}) {
      const { body, requestId } = await send({ ...options, method: 'GET', path: joinPath('uploads', id) });
      return readUpload(body, requestId, onUnknown);
    },
    list: (filters = {}, options = {}) =>
      createPages(async (cursor = filters.cursor) => {
        const query = { ...filters, cursor };
        const { body, requestId } = await send({ ...options, method: 'GET', path: '/uploads', query });
        return readList(body, requestId, (item, origin) => readUpload(item, origin, onUnknown));
      }),
    async complete(id, etag, options = {}) {
      const path = joinPath('uploads', id, 'completions');
      // The mark of a weak validator says nothing about a stored object, and the contract knows none.
      const completion = { etag: etag.replace(/^W\//, '') };
      const { body, requestId } = await send({ ...options, method: 'POST', path, body: completion });
      return readUpload(body, requestId, onUnknown);
    },
  };
  return {
    ...operations,
    async sendFile(path, options) {
      // Loaded when it is used.
      const { sendFile } = await import('./send-file.ts');
      return sendFile(context, operations, path, options);
    },
  };
}

export interface UploadFilters extends ListFilters {
  readonly status?: UploadStatus | undefined;
  readonly purpose?: UploadPurpose | undefined;
}

export interface UploadOperations {
  /** Reserves an upload; its bytes then go to `upload_request`. */
  create(request: UploadRequest, options?: CallOptions): Promise<Upload>;
  get(id: string, options?: CallOptions): Promise<Upload>;
  /** Newest first: one page to await, all pages with `for await`. */
  list(filters?: UploadFilters, options?: CallOptions): Pages<Upload>;
  /** Says that the bytes are there; the quotes of the ETag may be omitted. */
  complete(id: string, etag: string, options?: CallOptions): Promise<Upload>;
}
