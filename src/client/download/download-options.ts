import type { FindInput } from '../../base/find-input.ts';
import type { ResultFormat } from '../../protocol/result-formats.ts';
import type { Asset } from '../read/resources.ts';

/** A file that was downloaded and checked. */
export interface DownloadedFile {
  /** The name that it gets. */
  readonly path: string;
  readonly bytes: number;
  /** Of the bytes on disk, lower-case hex; null where the service states none and `hash` did not ask for it. */
  readonly sha256: string | null;
}

/** How one file of a result is downloaded. */
export interface DownloadOptions {
  /** Path of the finished file; its folder is made when it is missing. */
  readonly to: string;
  /** Path of the unfinished one, in the same folder; default `.NAME.part`. */
  readonly part?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((bytes: number, total: number | null) => void) | undefined;
  /** Reads the job once more when the link is refused; null when there is no other. */
  readonly refresh?: (() => Promise<Asset | null>) | undefined;
  /** True computes the SHA-256 even where the service states none, for a record of the file. */
  readonly hash?: boolean | undefined;
  /**
   * What the file must be. Where the service states no hash, its type and its first bytes are checked against it; left
   * out, only web pages and empty bodies are refused then.
   */
  readonly format?: ResultFormat | undefined;
  /** Awaited once the file is whole, checked and durable, before it gets its name; an error that it throws ends the download. */
  readonly beforePublish?: ((file: DownloadedFile) => Promise<void>) | undefined;
  /** Default false: an existing target is not changed. */
  readonly overwrite?: boolean | undefined;
  /** Returns the input of the user at a path, which is never replaced, even with `overwrite`; null for other files. */
  readonly findInput?: FindInput | undefined;
}
