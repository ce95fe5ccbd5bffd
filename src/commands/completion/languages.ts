/** Languages that the engines of this machine can do, asked from the programs themselves. */
import { execFile } from 'node:child_process';
import { languageName } from '../../protocol/language-tag.ts';
import type { Offered, Surroundings } from './offered.ts';

/** Either program answers in a twentieth of a second, on a busy machine in one; a shell must not wait for one that hangs. */
const LONGEST_MS = 2_000;

export async function listTranslationTargets(around: Surroundings): Promise<readonly Offered[]> {
  return named((await askDirections(around)).map(({ to }) => to));
}

export async function listTranslationSources(around: Surroundings): Promise<readonly Offered[]> {
  const sources = named((await askDirections(around)).map(({ from }) => from));
  return [{ value: 'auto', explains: 'found out' }, ...sources];
}

export async function listVoices({ env }: Surroundings): Promise<readonly Offered[]> {
  const { parseVoices } = await import('../../engines/speak/voices.ts');
  return named(parseVoices(await ask(env.PATH, 'espeak-ng', '--voices')).map(({ language }) => language));
}

export async function listRecognized(): Promise<readonly Offered[]> {
  const { findSpeechModels } = await import('../../engines/recognize/model.ts');
  const models = findSpeechModels().map(({ language }) => language);
  return [{ value: 'auto', explains: 'found out' }, ...named(models)];
}

async function askDirections({ env }: Surroundings) {
  const { parseDirections } = await import('../../engines/translate/directions.ts');
  return parseDirections(await ask(env.PATH, 'apertium', '-l'));
}

/** What the program prints; nothing when it is not there, fails or hangs. */
function ask(path: string | undefined, program: string, argument: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(
      program,
      [argument],
      { env: { PATH: path ?? '' }, timeout: LONGEST_MS, killSignal: 'SIGKILL', windowsHide: true },
      (error, stdout) => resolve(error === null ? stdout : ''),
    );
  });
}

function named(tags: readonly string[]): Offered[] {
  return [...new Set(tags)].sort().map((tag) => ({ value: tag, explains: languageName(tag) }));
}
