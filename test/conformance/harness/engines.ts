/** Media work of the harness: real measuring of real videos, small work behind it. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createEngines, type Engines } from '../../../src/engines/index.ts';
import { createSmallEngines, type SmallEngines } from '../../service/harness/small-engines.ts';

type Inspection = ReturnType<Engines['inspect']>;

/**
 * Engines that a workspace works with.
 * @param inspected findings by content, shared by all workspaces, since they send the same few videos
 */
export function createHarnessEngines(inspected: Map<string, Inspection>): SmallEngines {
  const small = createSmallEngines();
  const real = createEngines();
  return {
    ...small,
    async inspect(file, signal) {
      const content = createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
      const earlier = inspected.get(content);
      if (earlier !== undefined) return earlier;
      const inspection = real.inspect(file, signal);
      inspected.set(content, inspection);
      return inspection;
    },
    run: {
      ...small.run,
      auto_localization(task, work) {
        // The stages that the whole run goes through; the work itself stays small.
        work.report(0.1, 'separating');
        return small.run.auto_localization(task, {
          ...work,
          report: (fraction) => work.report(fraction, 'recognizing'),
        });
      },
    },
  };
}
