/** vloc as a program calls it, against a service of the test's own. */

import { readOwnRecords } from '../../../src/batch/records/other-journals.ts';
import { SYSTEM_RUNTIME } from '../../../src/client/runtime.ts';
import type { ServiceOptions } from '../../../src/service/index.ts';
import { type Scene, startScene, until } from '../../service/harness/scene.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { type Ended, foldersIn, runMain } from '../../support/run-main.ts';
import type { TestIoOptions } from '../../support/test-io.ts';
import { expectDescribed } from './output-schemas.ts';

export interface VlocScene extends Scene {
  /** The working directory of all runs. */
  readonly folder: string;
  /** What makes a run talk to the service. */
  readonly env: Record<string, string>;
  readonly run: (words: readonly string[], options?: TestIoOptions) => Promise<Ended>;
}

/**
 * Jobs of the small engines are done immediately: no test has to wait a second to see it, nor to poll without a
 * pause.
 */
export const QUICK: NonNullable<TestIoOptions['pace']> = {
  runtime: { sleep: (ms, signal) => SYSTEM_RUNTIME.sleep(Math.min(ms, 10), signal) },
};

/**
 * The variables of a run that uses the service of a scene and keeps settings and records in a folder of its own. A process of
 * its own would compile all sources again without the cache: a second of processor time.
 */
export function environmentOf(
  { service, credentials }: Pick<Scene, 'service' | 'credentials'>,
  folder: string,
): Record<string, string> {
  return {
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    VLOC_BASE_URL: service.url,
    VLOC_KEY: credentials.key,
    VLOC_SECRET: credentials.secret,
    ...foldersIn(folder),
  };
}

/**
 * Starts a service with small engines, and runs commands against it over real HTTP. Their JSON output is checked
 * against their schemas.
 */
export async function startVloc(options: Partial<ServiceOptions> = {}): Promise<VlocScene> {
  const scene = await startScene(options);
  const folder = makeFolder();
  const env = environmentOf(scene, folder);
  const run = async (words: readonly string[], io: TestIoOptions = {}): Promise<Ended> => {
    const ended = await runMain(words, { cwd: folder, pace: QUICK, ...io, env: { ...env, ...io.env } });
    await expectDescribed(words, ended);
    return ended;
  };
  return { ...scene, folder, env, run };
}

/** Waits until a run into this folder has read the answers to that many creates; the service has the jobs earlier. */
export async function untilAccepted(folder: string, count: number): Promise<void> {
  await until(
    async () => [...(await readOwnRecords({ folder })).attempts.byKey.values()],
    (attempts) => attempts.filter(({ accepted_at }) => accepted_at !== null).length >= count,
  );
}

/** The lines of ndjson on stdout. */
export function linesOf(stdout: string) {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}
