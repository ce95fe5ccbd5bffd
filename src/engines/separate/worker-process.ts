/** Starts the separation worker. */
import { fileURLToPath } from 'node:url';
import type { Programs } from '../../media/programs/programs.ts';
import type { BackendWork } from '../backend.ts';
import type { WorkerMessage } from './worker-messages.ts';

type Speech = Pick<Extract<WorkerMessage, { type: 'speech' }>, 'segments'>;

/**
 * Runs the worker on the files in the work folder; see `WORKER_FILES`.
 * @param flags see `worker-messages.ts`
 */
export async function runWorker(
  programs: Programs,
  flags: readonly string[],
  work: BackendWork,
): Promise<Speech> {
  let speech: Speech = { segments: [] };
  const onLine = (line: string) => {
    if (!line.startsWith('{')) return; // a warning from native code
    const message = JSON.parse(line) as WorkerMessage; // written by the worker, so trusted
    if (message.type === 'progress') work.report(message.fraction);
    else speech = message;
  };
  const args = [workerPath(), work.folder, ...flags];
  await programs.run(process.execPath, args, { ...work, stdin: 'open', onLine });
  return speech;
}

/** In the source tree the worker is beside this file; in the build it is beside the bundle, under another name. */
function workerPath(): string {
  const name = import.meta.url.endsWith('.ts') ? './worker.ts' : './separate-worker.js';
  return fileURLToPath(new URL(name, import.meta.url));
}
