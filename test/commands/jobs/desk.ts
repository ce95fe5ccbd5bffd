/** A service that measures real media and does small work on them, and a command that takes seconds for long. */
import { createEngines } from '../../../src/engines/index.ts';
import type { ServiceOptions } from '../../../src/service/index.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import type { Ended } from '../../support/run-main.ts';
import type { TestIoOptions } from '../../support/test-io.ts';
import { startVloc, type VlocScene } from '../support/run-vloc.ts';
import { LIMITS } from './limits.ts';

export interface MediaDesk extends VlocScene {
  /** As `run`, with programs and small limits. */
  readonly vloc: (words: readonly string[], options?: TestIoOptions) => Promise<Ended>;
  /** How many requests of an operation the service has answered. */
  readonly count: (operation: string) => number;
}

export async function openMediaDesk(options: Partial<ServiceOptions> = {}): Promise<MediaDesk> {
  const { inspect } = createEngines({ searchPath: rememberingPath() });
  const engines = { ...createSmallEngines(), inspect };
  const answered: string[] = [];
  const scene = await startVloc({
    engines,
    onRequest: ({ operationId }) => answered.push(operationId ?? ''),
    ...options,
  });
  return {
    ...scene,
    engines,
    vloc: (words, io = {}) =>
      scene.run(words, { limits: LIMITS, ...io, env: { PATH: rememberingPath(), ...io.env } }),
    count: (operation) => answered.filter((each) => each === operation).length,
  };
}
