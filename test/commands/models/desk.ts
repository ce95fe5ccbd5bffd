/** `vloc models` as a user calls it, with a hub of its own and generated models. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { SYSTEM_RUNTIME } from '../../../src/client/runtime.ts';
import { type Hub, startHub } from '../../support/hub-server.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { type Ended, foldersIn, startMain } from '../../support/run-main.ts';
import type { TestIoOptions } from '../../support/test-io.ts';
import { writeTinyCatalog } from '../../support/tiny-catalog.ts';
import { expectDescribed } from '../support/output-schemas.ts';

export interface ModelsDesk {
  readonly folder: string;
  /** The repositories of the hub. */
  readonly copies: string;
  readonly catalog: ReturnType<typeof writeTinyCatalog>;
  /** The folder of the installed models. */
  readonly models: string;
  readonly hub: Hub;
  readonly env: Record<string, string>;
  /** Runs `vloc models` with these words. */
  readonly run: (words: readonly string[], options?: RunOptions) => Promise<Ended>;
  /** Runs any command. */
  readonly call: (words: readonly string[], options?: RunOptions) => Promise<Ended>;
  /** The content of engines.json; null without the file. */
  readonly engines: () => Record<string, unknown> | null;
  /** Names in the folder of the models. */
  readonly names: () => string[];
}

interface RunOptions extends TestIoOptions {
  readonly catalog?: unknown;
  /** Called with what sends a signal to the running command. */
  readonly onStart?: (send: (signal: 'SIGINT') => void) => void;
}

/** Real engines work for a second or two: to ask for their state much more often would take the cores from them. */
const PACE: NonNullable<TestIoOptions['pace']> = {
  runtime: { sleep: (ms, signal) => SYSTEM_RUNTIME.sleep(Math.min(ms, 100), signal) },
};

export async function openModelsDesk(): Promise<ModelsDesk> {
  const folder = makeFolder();
  const copies = join(folder, 'copies');
  const catalog = writeTinyCatalog(copies);
  const hub = await startHub(copies);
  onTestFinished(() => hub.close());
  const models = join(folder, 'models');
  const env = {
    ...foldersIn(folder),
    VLOC_MODELS: models,
    HF_ENDPOINT: hub.url,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    PATH: rememberingPath(),
  };
  const file = join(folder, 'config', 'engines.json');
  const call = async (
    words: readonly string[],
    { catalog: modelCatalog = catalog, onStart, ...options }: RunOptions = {},
  ): Promise<Ended> => {
    const all = { ...options, modelCatalog, env: { ...env, ...options.env } };
    const { send, ended } = startMain(words, { cwd: folder, pace: PACE, ...all });
    onStart?.(send);
    await expectDescribed(words, await ended);
    return ended;
  };
  return {
    ...{ folder, copies, catalog, models, hub, env, call },
    run: (words, options) => call(['models', ...words], options),
    engines: () => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null),
    names: () => (existsSync(models) ? readdirSync(models).toSorted() : []),
  };
}
