/** `vloc engines` as a user calls it, with a folder for the settings and one for programs of the test. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { type Ended, runMain, startMain, variablesIn } from '../../support/run-main.ts';
import type { TestIoOptions } from '../../support/test-io.ts';
import { expectDescribed } from './output-schemas.ts';

/** Longer than a test may take: nothing fails because the machine is busy. */
const NO_HURRY_MS = 600_000;

export interface EnginesDesk {
  readonly folder: string;
  readonly file: string;
  readonly run: (
    words: readonly string[],
    env?: Record<string, string>,
    options?: TestIoOptions,
  ) => Promise<Ended>;
  /** Starts the command and presses Ctrl-C when `isTime` says so. */
  readonly interrupt: (words: readonly string[], isTime: () => Promise<unknown>) => Promise<Ended>;
  /** Writes the default file. */
  readonly configure: (file: object) => Promise<void>;
  /** The content of the default file. */
  readonly saved: () => Promise<Record<string, unknown>>;
}

export async function openEnginesDesk(): Promise<EnginesDesk> {
  const folder = makeFolder();
  const file = join(folder, 'config', 'engines.json');
  const variables = { ...variablesIn(folder), PATH: rememberingPath() };
  return {
    folder,
    file,
    run: async (words, env = {}, options = {}) => {
      const ended = await runMain(['engines', ...words], {
        cwd: folder,
        checkMs: NO_HURRY_MS,
        ...options,
        env: { ...variables, ...env },
      });
      await expectDescribed(['engines', ...words], ended);
      return ended;
    },
    interrupt: async (words, isTime) => {
      const options = { cwd: folder, checkMs: NO_HURRY_MS, env: variables };
      const { send, ended } = startMain(['engines', ...words], options);
      await isTime();
      send('SIGINT');
      return ended;
    },
    configure: async (content) => {
      const { saveEnginesFile } = await import('../../../src/engines/config-file.ts');
      await saveEnginesFile(file, {});
      await writeFile(file, JSON.stringify(content));
    },
    saved: async () => JSON.parse(await readFile(file, 'utf8')),
  };
}

/** Engines of type command that do their step with a few lines of JavaScript. */
export const PROGRAMS = {
  /** Writes down the sample with one wrong word of 23. */
  recognize: `
    const fs = await import('node:fs');
    const words = 'and mister john dashwood had then leisure to consider how much there might be prudently in his power to do for you';
    fs.writeFileSync(process.argv[3], '1\\n00:00:00,000 --> 00:00:07,000\\n' + words + '\\n');
  `,
  /** Translates by writing in capitals. */
  translate: `
    const lines = (await import('node:readline')).createInterface({ input: process.stdin });
    for await (const line of lines) {
      const cue = JSON.parse(line);
      console.log(JSON.stringify({ ...cue, text: cue.text.toUpperCase() }));
    }
  `,
  /** Hums for two seconds, 8 kHz. */
  speak: `
    const samples = Int16Array.from({ length: 16_000 }, (_, at) => 8000 * Math.sin(at / 5));
    const head = Buffer.alloc(44);
    head.write('RIFF', 0); head.writeUInt32LE(36 + samples.byteLength, 4); head.write('WAVEfmt ', 8);
    head.writeUInt32LE(16, 16); head.writeUInt16LE(1, 20); head.writeUInt16LE(1, 22);
    head.writeUInt32LE(8000, 24); head.writeUInt32LE(16_000, 28); head.writeUInt16LE(2, 32);
    head.writeUInt16LE(16, 34); head.write('data', 36); head.writeUInt32LE(samples.byteLength, 40);
    process.stdout.write(Buffer.concat([head, Buffer.from(samples.buffer)]));
  `,
  /** Takes all sound for the voice and for the background. */
  separate: `
    const fs = await import('node:fs');
    for (const name of ['voice.wav', 'rest.wav']) fs.copyFileSync(process.argv[2], process.argv[3] + '/' + name);
  `,
} as const;
