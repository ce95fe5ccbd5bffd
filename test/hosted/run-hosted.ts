/** vloc against a hosted service, with waits that take no time. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeFolder } from '../support/make-folder.ts';
import { type Ended, foldersIn, type Running, startMain } from '../support/run-main.ts';
import type { TestIoOptions } from '../support/test-io.ts';
import { expectUntouched } from '../support/untouched.ts';
import type { Difference } from './differences.ts';
import { type Hosted, type HostedOptions, startHosted } from './service.ts';
import { VARIANTS } from './variants.ts';

export interface HostedScene {
  readonly hosted: Hosted;
  /** With `talk.mp4` and `talk.srt`. */
  readonly folder: string;
  readonly slept: number[];
  /** The variables of `run`, if it is given none. */
  readonly env: Record<string, string>;
  readonly run: (words: readonly string[], options?: TestIoOptions) => Promise<Ended>;
  /** Ctrl-C in the run that was begun last. */
  readonly interrupt: () => void;
}

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';

/** The variables of a run at that service, which keeps settings and records in the folder. */
export function environmentAt({ baseUrl, account }: Hosted, folder: string) {
  return {
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
    VLOC_BASE_URL: baseUrl,
    VLOC_KEY: account.key,
    VLOC_SECRET: account.secret,
    VLOC_HEADER_PREFIX: account.prefix,
    ...foldersIn(folder),
  };
}

/** Starts a service in these forms; it ends with the test. */
export async function openHosted(
  chosen: readonly Difference[],
  used: Set<Difference>,
  options: Partial<HostedOptions> = {},
): Promise<HostedScene> {
  const hosted = await startHosted(chosen, used, options);
  onTestFinished(() => hosted.close());
  const folder = makeFolder();
  await writeFile(join(folder, 'talk.mp4'), Buffer.from('\0\0\0\x18ftypisom and more'));
  await writeFile(join(folder, 'talk.srt'), SRT);
  await expectUntouched(join(folder, 'talk.mp4'));
  const env = environmentAt(hosted, folder);
  const slept: number[] = [];
  const sleep = async (ms: number) => void slept.push(ms);
  const pace = { runtime: { sleep } };
  let newest: Running | null = null;
  const run = (words: readonly string[], io: TestIoOptions = {}): Promise<Ended> => {
    newest = startMain(words, { cwd: folder, env, pace, ...io });
    return newest.ended;
  };
  return { hosted, folder, slept, env, run, interrupt: () => newest?.send('SIGINT') };
}

/** One that says no more than it must, and whose jobs are done when they are first looked at. */
export function openMinimal(options: Partial<HostedOptions> = {}): Promise<HostedScene> {
  return openHosted(VARIANTS.minimal, new Set(), { jobMs: () => 0, ...options });
}
