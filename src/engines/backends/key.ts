/** Reads the key of a server from the environment or from a program. A key appears in no message. */
import { basename } from 'node:path';
import { ChildFailure, ProgramMissing } from '../../media/programs/failures.ts';
import type { EngineRun } from '../../media/work.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import type { KeySource } from '../config.ts';
import { childEnvironment } from './command/program.ts';
import type { BackendParts } from './parts.ts';
import { expandHome } from './parts.ts';

interface ServerKey {
  /** Returns the key, or null if the entry has none. @throws JobFailure */
  read(run: EngineRun): Promise<string | null>;
  /** Removes the key from a text. */
  hide(text: string): string;
  /** One thing to do if the server does not accept the key. */
  readonly advice: string;
}

/** Longer than any key; a program that prints more prints something else. */
const MAX_KEY_BYTES = 64 * 1024;
/** A program that asks for a passphrase waits forever if no one sees it. */
const LONGEST_MS = 60_000;

/** Creates the reader of a key. What a program printed is kept in memory for the process. */
export function createKey(source: KeySource | undefined, name: string, parts: BackendParts): ServerKey {
  let known: string | null = null;

  const failure = (message: string) =>
    new JobFailure('ENGINE_ERROR', `${name}: ${message}`, { permanent: true });

  async function print(command: readonly string[], run: EngineRun): Promise<string> {
    const [program = '', ...args] = command.map((word) => expandHome(word, parts.env));
    const signal = AbortSignal.any([run.signal, AbortSignal.timeout(LONGEST_MS)]);
    const shown = basename(program);
    try {
      const printed = await parts.programs.run(program, args, {
        signal,
        folder: run.folder,
        env: childEnvironment(parts),
        maxStdoutBytes: MAX_KEY_BYTES,
      });
      const key = printed.toString('utf8').trim();
      if (key !== '') return key;
    } catch (error) {
      run.signal.throwIfAborted();
      if (signal.aborted) {
        throw failure(
          `${shown}, the program of "key" in engines.json, did not end within a minute; run it to see why`,
        );
      }
      if (error instanceof ProgramMissing) {
        throw failure(`${shown}, the program of "key" in engines.json, is not installed`);
      }
      if (!(error instanceof ChildFailure)) throw error;
      // Its last words are omitted: they could quote the key.
      const how = error.endedBy === null ? `exit code ${error.exitCode}` : `signal ${error.endedBy}`;
      throw failure(`${shown}, the program of "key" in engines.json, ended with ${how}; run it to see why`);
    }
    throw failure(`${shown}, the program of "key" in engines.json, printed nothing`);
  }

  async function find(chosen: KeySource, run: EngineRun): Promise<string> {
    if ('command' in chosen) return await print(chosen.command, run);
    const value = parts.env[chosen.env]?.trim() ?? '';
    if (value !== '') return value;
    throw failure(
      `the variable ${chosen.env}, which holds its key, is not set; set it where vloc runs, then try again`,
    );
  }

  return {
    async read(run) {
      if (source === undefined) return null;
      if (known !== null) return known;
      const key = await find(source, run);
      // A header can hold nothing else, and no key of a server has other characters.
      if (!/^[\x21-\x7e]+$/.test(key)) {
        throw failure(
          `its key (${placeOf(source)}) has spaces, line breaks or characters that no key has; correct it`,
        );
      }
      known = key;
      return known;
    },
    hide: (text) => (known === null ? text : text.replaceAll(known, '[key]')),
    advice:
      source === undefined
        ? 'the server requires a key: name the variable that holds it with "key": {"env": "NAME"} in engines.json'
        : `check the key (${placeOf(source)})`,
  };
}

function placeOf(source: KeySource): string {
  return 'env' in source
    ? `variable ${source.env}`
    : `printed by ${basename(source.command[0] ?? 'a program')}`;
}
