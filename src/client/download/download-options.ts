import type { FindInput } from '../../disk/find-input.ts';
import type { ResultFormat } from '../../protocol/result-formats.ts';
import type { Asset } from '../read/resources.ts';

/** A file that was downloaded and checked. */
export interface WholeFile {
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
  /** True gives the SHA-256 also where the service states none to check it against, for a record of the file. */
  readonly hash?: boolean | undefined;
  /**
   * What the file must be. Where the service states no hash, its type and its first bytes are checked against it; left
   * out, only web pages and empty bodies are refused then.
   */
  readonly format?: ResultFormat | undefined;
  /** Awaited once the file is whole, checked and durable, before it gets its name; what it throws ends the download. */
  readonly beforePublish?: ((file: WholeFile) => Promise<void>) | undefined;
  /** Default false: a target that is there already is left alone. */
  readonly overwrite?: boolean | undefined;
  /** Names the input of the user that is at a path, which is left alone even with `overwrite`; null for all other files. */
  readonly findInput?: FindInput | undefined;
}
