/** The upload operations. Source: specification, "Operation table"; contract, "Uploads". */
import type { UploadRequest } from '../../protocol/requests.ts';
import type { UploadPurpose, UploadStatus } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import type { ClientContext } from '../context.ts';
import type { ListFilters } from '../jobs/jobs.ts';
import { readList } from '../read/list.ts';
import type { ListPage, Upload } from '../read/resources.ts';
import { readUpload } from '../read/upload.ts';
import { joinPath } from '../transport/target.ts';
import type { Send } from '../transport/transport.ts';
import { type SendFileOptions, type SentFile, sendFile } from './send-file.ts';

export interface UploadFilters extends ListFilters {
  readonly status?: UploadStatus | undefined;
  readonly purpose?: UploadPurpose | undefined;
}

export interface UploadOperations {
  /** Reserves an upload; its bytes then go to `upload_request`. */
  create(request: UploadRequest, options?: CallOptions): Promise<Upload>;
  get(id: string, options?: CallOptions): Promise<Upload>;
  /** One page, newest first. */
  list(filters?: UploadFilters, options?: CallOptions): Promise<ListPage<Upload>>;
  /** Says that the bytes are there; the quotes of the ETag may be left out. */
  complete(id: string, etag: string, options?: CallOptions): Promise<Upload>;
}

export interface Uploads extends UploadOperations {
  /** Reserves, streams the file, completes and waits until it is ready; a lapsed reservation is replaced once. */
  sendFile(path: string, options: SendFileOptions): Promise<SentFile>;
}

/** Every operation throws Failure, or the reason of the signal when that is aborted. */
export function createUploads(context: ClientContext, send: Send): Uploads {
  const operations: UploadOperations = {
    async create(request, options = {}) {
      const { body, requestId } = await send({ ...options, method: 'POST', path: '/uploads', body: request });
      return readUpload(body, requestId);
    },
    async get(id, options = {}) {
      const { body, requestId } = await send({ ...options, method: 'GET', path: joinPath('uploads', id) });
      return readUpload(body, requestId);
    },
    async list(filters = {}, options = {}) {
      const call = { ...options, method: 'GET', path: '/uploads', query: { ...filters } } as const;
      const { body, requestId } = await send(call);
      return readList(body, requestId, readUpload);
    },
    async complete(id, etag, options = {}) {
      const path = joinPath('uploads', id, 'completions');
      // The mark of a weak validator says nothing about a stored object, and the contract knows none.
      const completion = { etag: etag.replace(/^W\//, '') };
      const { body, requestId } = await send({ ...options, method: 'POST', path, body: completion });
      return readUpload(body, requestId);
    },
  };
  return { ...operations, sendFile: (path, options) => sendFile(context, operations, path, options) };
}
