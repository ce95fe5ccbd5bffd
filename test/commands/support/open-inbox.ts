/** A folder of subtitles that is watched, beside a service of the test's own. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../../service/harness/scene.ts';
import type { TestIoOptions } from '../../support/test-io.ts';
import { startVloc, type VlocScene } from './run-vloc.ts';
import { startWatch, type Watch } from './start-watch.ts';

export const WATCHING = ['translate', 'inbox', '--from', 'en', '--to', 'es', '--out', 'out', '--watch'];

export function subtitlesOf(text: string): string {
  return `1\n00:00:00,000 --> 00:00:01,000\n${text}\n`;
}

export interface Inbox extends VlocScene {
  /** Puts a file of subtitles into the watched folder. */
  put(name: string, text?: string): Promise<void>;
  /** Watches it, with more words on the command line. */
  watch(more?: readonly string[], options?: Pick<TestIoOptions, 'pace'>): Promise<Watch>;
  countJobs(): Promise<number>;
  /** Waits for a result with this text. */
  untilResult(name: string, text?: string): Promise<unknown>;
}

export async function openInbox(): Promise<Inbox> {
  const vloc = await startVloc();
  const inbox = join(vloc.folder, 'inbox');
  await mkdir(inbox);
  return {
    ...vloc,
    put: (name, text = name) => writeFile(join(inbox, name), subtitlesOf(text)),
    watch: (more = [], options = {}) => startWatch(vloc, [...WATCHING, ...more], options),
    countJobs: async () => (await vloc.caller.get('/v1/subtitle-translations?limit=50')).json.data.length,
    untilResult: (name, text = '') =>
      until(
        () => readFile(join(vloc.folder, 'out', name), 'utf8').catch(() => null),
        (found) => found?.includes(text.toUpperCase()) === true,
      ),
  };
}

/** Waits until stderr has said so. */
export async function untilTold({ stderr }: Pick<Watch, 'stderr'>, text: string): Promise<void> {
  await until(stderr, (told) => told.includes(text));
}
