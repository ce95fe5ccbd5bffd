import type { ApiResponse, Call } from './call.ts';
import { type Credits, createCredits } from './credits.ts';
import type { DownloadedFile as Downloaded, DownloadOptions } from './download/download.ts';
import { createJobs, type Jobs } from './jobs/jobs.ts';
import type { Asset } from './read/resources.ts';
import { type ClientOptions, createContext } from './transport/context.ts';
import { createSend } from './transport/send.ts';
import { createUploads, type Uploads } from './upload/uploads.ts';

/** The service, at any address. Everything rejects with Failure, or with the reason of an aborted signal. */
export interface Client {
  /** Any signed call; retried, and never redirected. */
  send(call: Call): Promise<ApiResponse>;
  readonly uploads: Uploads;
  readonly jobs: Jobs;
  readonly credits: Credits;
  /** Fetches one file of a result. */
  download(asset: Asset, options: DownloadOptions): Promise<Downloaded>;
  /** Aborts running requests and closes all connections. */
  close(): Promise<void>;
}

/**
 * Makes a client; nothing is sent and no connection opened before the first call.
 * @throws Failure (`configuration`) for an address, key, secret or header prefix that cannot be right
 */
export function createClient(options: ClientOptions): Client {
  const context = createContext(options);
  const send = createSend(context);
  return {
    send,
    uploads: createUploads(context, send),
    jobs: createJobs(context, send),
    credits: createCredits(send),
    async download(asset, o) {
      // Loaded when it is used.
      const { downloadAsset } = await import('./download/download.ts');
      return downloadAsset(context, asset, o);
    },
    close: context.http.close,
  };
}
