/**
 * The far end of the simulation: a model of a service, reached over real HTTP with a delay. It has a process of its own, so that
 * the memory of this one is that of the client.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ProgressReporting } from '../../../client/simulation/work.ts';
import type { Counts } from './far-end.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The jobs that the service will have, drawn from a seed. */
export interface FarSetup {
  readonly count: number;
  /** Median of the work times. */
  readonly medianMs: number;
  readonly progress: ProgressReporting;
  readonly seed: number;
  readonly slots: number;
}

export interface FarReport {
  readonly counts: Counts;
  /** In the order of their creation. `toldMs` is when the client first knew of the end, null if never. */
  readonly jobs: readonly {
    readonly createdMs: number;
    readonly endedMs: number;
    readonly toldMs: number | null;
  }[];
}

export interface FarService {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  report(): Promise<FarReport>;
  close(): Promise<void>;
}

/** The end of a trip, or the question for a report. */
export type ToFar = { readonly trip: number; readonly nowMs: number } | 'report';
type FromFar = { readonly trip: number } | { readonly port: number } | FarReport;

/** There or back. Source: performance figures, "Waiting": 0.1 s for both. */
export const TRAVEL_MS = 50;

/** The program of the process, as it is in the source tree. */
const PROGRAM = fileURLToPath(new URL('./far-process.ts', import.meta.url));

/** @param program another path of `far-process.ts`, where this file was bundled */
export async function startFarService(
  setup: FarSetup,
  time: VirtualTime,
  program: string = PROGRAM,
): Promise<FarService> {
  const child = fork(program, [JSON.stringify(setup)], { execArgv: [] });
  const [first]: FromFar[] = await once(child, 'message');
  if (first === undefined || !('port' in first)) throw new Error('the simulated service did not start');
  child.on('message', async (message: FromFar) => {
    if (!('trip' in message)) return;
    await time.travel(TRAVEL_MS);
    child.send({ trip: message.trip, nowMs: time.now() });
  });
  return {
    baseUrl: `http://127.0.0.1:${first.port}/v1`,
    async report() {
      child.send('report');
      const [answer]: FromFar[] = await once(child, 'message');
      if (answer === undefined || !('jobs' in answer)) throw new Error('the simulated service is still busy');
      return answer;
    },
    async close() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
