import type { UploadRequest } from '../../protocol/request-types.ts';
import type { UploadPurpose, UploadStatus } from '../../protocol/states.ts';
import type { CallOptions } from '../call.ts';
import type { ListFilters } from '../jobs/jobs.ts';
import type { Pages } from '../read/pages.ts';
import type { Upload } from '../read/resources.ts';

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
