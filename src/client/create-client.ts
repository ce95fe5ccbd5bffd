import type { Client } from './client.ts';
import { createCredits } from './credits.ts';
import { createJobs } from './jobs/jobs.ts';
import { type ClientOptions, createContext } from './options.ts';
import { createSend } from './transport/transport.ts';
import { createUploads } from './upload/uploads.ts';

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
      // Commands that download nothing need none of it.
      const { downloadAsset } = await import('./download/download.ts');
      return downloadAsset(context, asset, o);
    },
    close: context.close,
  };
}
