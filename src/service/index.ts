/** The embedded service: the whole interface on one machine, over real HTTP with real signatures. */

import { Failure } from '../base/failure.ts';
import type { Engines } from '../engines/engine.ts';
import type { Service, ServiceOptions } from './options.ts';
import { createEngineLoader, startService } from './start.ts';

export type { IssuedKey, KeyRules } from './auth/keys.ts';
export type { Cancel, Clock } from './clock.ts';
export type { ServiceConfig } from './config.ts';
export type { Fault, FaultRoute } from './faults/fault.ts';
export { type FaultScript, scriptFaults } from './faults/script.ts';
export type { ServiceResponse } from './http/exchange.ts';
export type { Faults, RequestFacts } from './http/faults.ts';
export type { Log, LogEntry, RequestLog, RequestRecord } from './log.ts';
export type { NodeHealth, Service, ServiceOptions, Worker } from './options.ts';
export { createWorker } from './start.ts';
export { Failure };

/**
 * Starts a service on a state folder. Resolves when it listens.
 * @throws Failure if the store is damaged or was written by a newer version, the address is in use, or the folder
 * cannot be used
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  const supply = createEngineLoader(options.engines, options.log);
  if (options.control === undefined || options.control === false)
    return (await startService(options, supply)).service;
  const { startControlled } = await import('./control/start.ts');
  return startControlled(options, supply, startService);
}

interface EngineSetup {
  /** The content of an `engines.json`. Default: the built-in engines. */
  readonly config?: object | undefined;
  /** Variables for the keys of servers and for programs of the user. Default: those of this process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Receives remarks, such as a server that ignores an option. Default: none are shown. */
  readonly warn?: ((message: string) => void) | undefined;
}

/**
 * Creates the engines of `createService` from a configuration, which is checked. The service closes them.
 * @throws Failure (`configuration`, ENGINES_INVALID) that lists every mistake
 */
export async function createEngines({ config, ...others }: EngineSetup = {}): Promise<Engines> {
  const [engines, { checkEngines }] = await Promise.all([
    import('../engines/index.ts'),
    import('../engines/config-check.ts'),
  ]);
  return engines.createEngines({
    ...others,
    config: config === undefined ? null : checkEngines(config, 'config'),
  });
}
