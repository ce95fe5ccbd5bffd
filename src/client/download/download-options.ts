import type { Asset } from '../read/resources.ts';

/** How one file of a result is fetched. */
export interface DownloadOptions {
  /** Path of the finished file; its folder is made when it is missing. */
  readonly to: string;
  /** Path of the unfinished one, in the same folder; default `.NAME.part`. */
  readonly part?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((bytes: number, total: number | null) => void) | undefined;
  /** Reads the job once more when the link is refused; null when there is no other. */
  readonly refresh?: (() => Promise<Asset | null>) | undefined;
  /** True gives the SHA-256 also where the service states none to check it against, for a record of the file. */
  readonly hash?: boolean | undefined;
  /** Default false: a target that is there already is left alone. */
  readonly overwrite?: boolean | undefined;
}
