/** vloc as a program calls it, against a service of the test's own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { readOwnRecords } from '../../../src/batch/records/other-journals.ts';
import { main } from '../../../src/cli/main.ts';
import { SYSTEM_RUNTIME } from '../../../src/client/runtime.ts';
import type { ServiceOptions } from '../../../src/service/index.ts';
import { type Scene, startScene, until } from '../../service/harness/scene.ts';
import { createTestIo, type TestIoOptions } from '../../support/test-io.ts';
import { expectDescribed } from './output-schemas.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

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

/** An empty folder that goes with the test. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'vloc-run-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

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
    VLOC_CONFIG_DIR: join(folder, 'config'),
    VLOC_STATE_DIR: join(folder, 'state'),
  };
}

/**
 * Starts a service with small engines, and runs commands against it over real HTTP. Their JSON output is checked
 * against their schemas.
 */
export async function startVloc(options: Partial<ServiceOptions> = {}): Promise<VlocScene> {
  const scene = await startScene(options);
  const folder = await makeFolder();
  const env = environmentOf(scene, folder);
  const run = async (words: readonly string[], io: TestIoOptions = {}): Promise<Ended> => {
    const test = createTestIo({ cwd: folder, pace: QUICK, ...io, env: { ...env, ...io.env } });
    const code = await main(words, test.io);
    const ended = { code, stdout: test.stdout(), stderr: test.stderr() };
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

/** Lines of subtitles as the source of a job that needs no upload. */
export const LINES = {
  type: 'lines',
  lines: [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hello' }],
};

/** A translation job, which the small engines finish immediately. */
export const TRANSLATION = { subtitle: LINES, source_language: 'en', target_language: 'es' };

/** The lines of ndjson on stdout. */
export function linesOf(stdout: string) {
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}
