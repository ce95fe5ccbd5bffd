/** Starts a service with its control interface. */
import { randomBytes } from 'node:crypto';
import type { Engines } from '../../engines/engine.ts';
import type { ServiceContext } from '../context.ts';
import { type FaultScript, scriptFaults } from '../faults/script.ts';
import type { Faults } from '../http/faults.ts';
import type { Service, ServiceOptions } from '../options.ts';
import type { EngineSupply, StartService } from '../start.ts';
import { createMovableClock, type MovableClock } from './clock.ts';
import { createMediaGate, type MediaGate } from './media-gate.ts';
import { startControlServer } from './server.ts';

/** The parts that the operations change. */
export interface Controlled {
  readonly context: ServiceContext;
  readonly clock: MovableClock;
  readonly faults: FaultScript;
  readonly gate: MediaGate;
}

/** 256 bits. */
const TOKEN_BYTES = 32;

/** The same as `createService`, with control. The service ends together with its control interface. */
export async function startControlled(
  options: ServiceOptions,
  supply: EngineSupply,
  start: StartService,
): Promise<Service> {
  const clock = createMovableClock(options.clock);
  const faults = scriptFaults();
  const gate = createMediaGate();
  let guarded: Promise<Engines> | null = null;
  const { service, context } = await start(
    {
      ...options,
      clock,
      faults: options.faults === undefined ? faults : chainFaults(faults, options.faults),
    },
    {
      ...supply,
      engines() {
        guarded ??= supply.engines().then(gate.guard);
        return guarded;
      },
    },
  );
  const closeService = () => {
    // A frozen clock would never end the waits of a shutdown.
    clock.resume();
    gate.release();
    return service.close();
  };
  const { port = 0 } = typeof options.control === 'object' ? options.control : {};
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  try {
    const server = await startControlServer({ context, clock, faults, gate }, { port, token });
    let ended: Promise<void> | null = null;
    return {
      ...service,
      control: { url: server.origin, token },
      close() {
        ended ??= server.close().then(closeService);
        return ended;
      },
    };
  } catch (error) {
    // Its secrets are shown only by a start that succeeds.
    if (service.newKey !== null) await service.dropKey(service.newKey.key);
    await closeService();
    throw error;
  }
}

/** Asks the first faults, and the second where they let a request through. */
function chainFaults(first: Faults, second: Faults): Faults {
  return {
    before: async (request) => (await first.before(request)) ?? second.before(request),
    async after(request, answer) {
      const given = await second.after(request, answer);
      return given === 'drop' ? given : first.after(request, given);
    },
  };
}
