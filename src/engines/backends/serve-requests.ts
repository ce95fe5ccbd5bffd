/** The side of a worker in its talk with `workers.ts`. It imports nothing heavy, because each worker loads it. */
import { createInterface } from 'node:readline';

export type WorkerReply =
  /** The model is in memory. */
  | { readonly type: 'loaded' }
  | { readonly type: 'part'; readonly part: unknown }
  /** With the most memory that the process has taken so far, in bytes. */
  | { readonly type: 'done'; readonly peakBytes: number }
  | { readonly type: 'failed'; readonly message: string };

/**
 * Serves the requests on stdin one after the other, and reports the end of each.
 * @template Request written by the service, so trusted
 */
export async function serveRequests<Request>(serve: (request: Request) => Promise<void>): Promise<void> {
  let isBusy = false;
  // stdin closes when no result is needed any more. Between requests, drivers may still write what they keep for the next start.
  process.stdin.on('end', () => (isBusy ? process.kill(process.pid, 'SIGKILL') : process.exit()));
  for await (const line of createInterface({ input: process.stdin })) {
    isBusy = true;
    try {
      await serve(JSON.parse(line) as Request);
      // The system counts it in KiB.
      sendReply({ type: 'done', peakBytes: process.resourceUsage().maxRSS * 1024 });
    } catch (error) {
      sendReply({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
    }
    isBusy = false;
  }
}

/** Reports that the model was loaded: later failures are those of the call. */
export function sendLoaded(): void {
  sendReply({ type: 'loaded' });
}

/** Sends a part of the result. */
export function sendPart(part: unknown): void {
  sendReply({ type: 'part', part });
}

function sendReply(reply: WorkerReply): void {
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
