/** `vloc subtitles` as a user calls it, in a folder of its own. */

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../support/make-folder.ts';
import { type Ended, runMain, variablesIn } from '../../support/run-main.ts';
import { expectDescribed } from '../support/output-schemas.ts';

export interface SubtitlesDesk {
  readonly folder: string;
  /** Runs `vloc subtitles` with these words. */
  readonly run: (...words: string[]) => Promise<Ended>;
  readonly write: (name: string, content: string | Buffer) => Promise<string>;
  readonly read: (name: string) => Promise<string>;
}

export async function openSubtitlesDesk(): Promise<SubtitlesDesk> {
  const folder = makeFolder();
  const env = variablesIn(folder);
  return {
    folder,
    async run(...words) {
      const ended = await runMain(['subtitles', ...words], { cwd: folder, env });
      await expectDescribed(['subtitles', ...words], ended);
      return ended;
    },
    async write(name, content) {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
      return path;
    },
    read: (name) => readFile(join(folder, name), 'utf8'),
  };
}

/** A cue of SRT; times in seconds. */
export function srtCue(number: number, from: number, to: number, text: string): string {
  const clock = (seconds: number) => {
    const ms = Math.round(seconds * 1000);
    const two = (value: number) => String(value).padStart(2, '0');
    return `00:${two(Math.floor(ms / 60_000))}:${two(Math.floor(ms / 1000) % 60)},${String(ms % 1000).padStart(3, '0')}`;
  };
  return `${number}\n${clock(from)} --> ${clock(to)}\n${text}\n\n`;
}
