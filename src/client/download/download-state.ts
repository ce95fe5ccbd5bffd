import type { ClientContext } from '../context.ts';
import type { Asset } from '../read/resources.ts';
import type { DownloadOptions } from './download-options.ts';
import type { PartFile } from './part-file.ts';
import type { Validator } from './validator.ts';

/** What attempts hand on to the next. */
export interface DownloadState {
  asset: Asset;
  /** Of the bytes in the part, as this run saw it. */
  validator: Validator | null;
  /** Length of the whole file as an answer told it. */
  total: number | null;
  /** Each helps once; a second time it would help no more. */
  refreshed: boolean;
  restarted: boolean;
}

export interface Download {
  readonly context: ClientContext;
  readonly part: PartFile;
  readonly state: DownloadState;
  readonly options: DownloadOptions;
}

/** A hash costs as much as writing the file: it is taken to check the bytes by it, or when the caller wants it. */
export function needsHash(asset: Asset, { hash = false }: DownloadOptions): boolean {
  return hash || asset.sha256 !== null;
}
