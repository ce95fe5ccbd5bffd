/**
 * Time that stands still while anything runs in this process, and otherwise jumps to the next instant that is waited
 * for: a day passes in minutes, and none of it depends on how fast this machine is.
 */
import { channel } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { setImmediate as nextTurn, setTimeout as realPause } from 'node:timers/promises';
import { createEventTime, type EventTime } from '../../../client/simulation/event-time.ts';

export interface VirtualTime extends Omit<EventTime, 'advance'> {
  /** A sleep of a request on its way: while it travels, it keeps nobody busy. */
  travel(ms: number): Promise<void>;
  /** Lets time pass until the work is done. */
  run<T>(work: Promise<T>): Promise<T>;
}

/** What arrives at a socket of this machine is read in the next turn of the event loop; some more, for what comes of it. */
const QUIET_TURNS = 3;
/** Answers on loopback and a disk take longer than these: a pause leaves the processor to them. */
const BUSY_TURNS = 10;
/** Real time: writing to a disk takes as long. */
const REAL_PAUSE_MS = 1;
/** So many in a row in which nothing happens: then nobody will ever wake who still waits. */
const STUCK_PAUSES = 5_000;
/** Names that Node has for calls of the file system and of sockets that have not come back. */
const UNDER_WAY = /Req|ConnectWrap|WriteWrap|ShutdownWrap/;

export function createVirtualTime(begunMs: number): VirtualTime {
  const time = createEventTime(begunMs);
  const traffic = countTraffic();
  let travelling = 0;

  function isBusy(): boolean {
    if (traffic.underWay() !== travelling) return true;
    return process.getActiveResourcesInfo().some((name) => UNDER_WAY.test(name));
  }

  /** Until nothing runs, or the work is over. */
  async function settle(isOver: () => boolean): Promise<void> {
    for (let checks = 1; ; checks += 1) {
      for (let turn = 0; turn < QUIET_TURNS; turn += 1) await nextTurn();
      if (isOver() || !isBusy()) return;
      if (checks % BUSY_TURNS === 0) await realPause(REAL_PAUSE_MS);
    }
  }

  return {
    now: time.now,
    sleep: time.sleep,
    async travel(ms) {
      travelling += 1;
      await time.sleep(ms);
      travelling -= 1;
    },
    async run(work) {
      let isOver = false;
      const end = () => {
        isOver = true;
      };
      work.then(end, end);
      try {
        for (let idlePauses = 0; idlePauses < STUCK_PAUSES; ) {
          await settle(() => isOver);
          if (isOver) return await work;
          if (time.advance()) {
            idlePauses = 0;
            continue;
          }
          // Modules that are loaded at their first use show in no account.
          await realPause(REAL_PAUSE_MS);
          idlePauses += 1;
        }
        throw new Error('somebody waits for something that will never come');
      } finally {
        traffic.stop();
      }
    },
  };
}

/** Requests of this process that were sent and not yet answered to the last byte, by Node's own account and undici's. */
function countTraffic(): { underWay(): number; stop(): void } {
  const pending = new Set<unknown>();
  const begin = (message: unknown) => pending.add(requestOf(message));
  const end = (message: unknown) => pending.delete(requestOf(message));
  const answered = (message: unknown) => {
    // The shape that Node documents for this channel and has no type for.
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
    response.once('close', () => pending.delete(request));
  };
  const listeners = [
    ['http.client.request.start', begin],
    ['http.client.request.error', end],
    ['http.client.response.finish', answered],
    ['undici:request:create', begin],
    ['undici:request:trailers', end],
    ['undici:request:error', end],
  ] as const;
  for (const [name, listen] of listeners) channel(name).subscribe(listen);
  return {
    underWay: () => pending.size,
    stop() {
      for (const [name, listen] of listeners) channel(name).unsubscribe(listen);
    },
  };
}

function requestOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'request' in message ? message.request : message;
}
