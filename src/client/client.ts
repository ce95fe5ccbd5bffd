import type { Answer, Call } from './call.ts';
import type { Credits } from './credits.ts';
import type { WholeFile as Downloaded, DownloadOptions } from './download/download-options.ts';
import type { Jobs } from './jobs/jobs.ts';
import type { Asset } from './read/resources.ts';
import type { Uploads } from './upload/uploads.ts';

/** The service, at any address. Everything rejects with Failure, or with the reason of an aborted signal. */
export interface Client {
  /** Any signed call; retried, and never redirected. */
  send(call: Call): Promise<Answer>;
  readonly uploads: Uploads;
  readonly jobs: Jobs;
  readonly credits: Credits;
  /** Fetches one file of a result. */
  download(asset: Asset, options: DownloadOptions): Promise<Downloaded>;
  /** Cuts what is in flight and closes all connections. */
  close(): Promise<void>;
}
