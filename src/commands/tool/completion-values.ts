/** Values that shells offer on Tab, from this machine alone. After an error a list is empty, since a shell cannot show errors. */

import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { parseJson } from '../../base/json.ts';
import { configFolder, stateFolder } from '../../profiles/environment.ts';
import { LOCAL, type ProfileDocument, profilesPath } from '../../profiles/profile.ts';
import { languageName } from '../../protocol/language-tag.ts';
import type { Io } from '../context/context.ts';

/** A value with what it is, as shells show it beside the value. */
export interface Suggestion {
  readonly value: string;
  readonly explains: string;
}

/** The parts of `Io` that the lists read. */
export type Sources = Pick<Io, 'env' | 'platform' | 'cwd' | 'now'>;

type List = (around: Sources) => Promise<readonly Suggestion[]>;

const SOURCES = {
  profiles: listProfiles,
  jobs: listJobs,
  uploads: listUploads,
  'translation-targets': listTranslationTargets,
  'translation-sources': listTranslationSources,
  recognized: listRecognized,
  voices: listVoices,
  engines: listEngines,
  models: listModels,
  'installed-models': listInstalledModels,
} as const satisfies Record<string, List>;

export type ValueSource = keyof typeof SOURCES;

/** A shell inserts values without quoting them, and one with a dash would be an option. Ids come from a service and are not trusted. */
const SAFE = /^\w[\w.@+:/-]*$/;

/** The values of a source that a shell can insert. */
export async function listValues(source: ValueSource, around: Sources): Promise<readonly Suggestion[]> {
  const suggestions = await SOURCES[source](around).catch(() => []);
  return suggestions.filter(({ value }) => SAFE.test(value));
}

/** The embedded service, then the stored profiles. */
async function listProfiles({ env, platform }: Sources): Promise<readonly Suggestion[]> {
  const local = { value: LOCAL, explains: 'the embedded service' };
  const stored = await readProfiles(configFolder(env, platform)).catch(() => []);
  return [local, ...stored];
}

/** Without conf, which checks the file: loading it takes as long as everything else at a press of Tab. */
async function readProfiles(folder: string): Promise<readonly Suggestion[]> {
  const document = parseJson(await readFile(profilesPath(folder), 'utf8'));
  const { profiles } = document as ProfileDocument; // a damaged one throws here or in the next line
  return profiles.map(({ name, base_url: address }) => ({ value: `${name}`, explains: `${address}` }));
}

/** Jobs that were made on this machine and that a service still knows, the newest first. */
async function listJobs({ env, platform, now }: Sources): Promise<readonly Suggestion[]> {
  const { readRecentJobs } = await import('../../batch/records/job-record.ts');
  const jobs = await readRecentJobs(stateFolder(env, platform), now());
  return jobs.map(({ id, kind, state, inputs }) => ({
    value: id,
    explains: [kind, state, ...inputs.slice(0, 1).map((input) => basename(input))].join(', '),
  }));
}

/** Uploads that were made on this machine and can still be used. */
async function listUploads({ env, platform, now }: Sources): Promise<readonly Suggestion[]> {
  const { readUsableUploads } = await import('../../batch/records/upload-record.ts');
  const uploads = await readUsableUploads(stateFolder(env, platform), now());
  return uploads.map(({ upload_id, purpose, size }) => ({
    value: upload_id,
    explains: `${purpose}, ${size} bytes`,
  }));
}

/** Both programs answer within 50 ms, or 3 s where every core is busy. A shell must not wait for a program that hangs. */
const LONGEST_MS = 5_000;

async function listTranslationTargets(around: Sources): Promise<readonly Suggestion[]> {
  return named((await askDirections(around)).map(({ to }) => to));
}

async function listTranslationSources(around: Sources): Promise<readonly Suggestion[]> {
  const sources = named((await askDirections(around)).map(({ from }) => from));
  return [{ value: 'auto', explains: 'found out' }, ...sources];
}

async function listVoices({ env }: Sources): Promise<readonly Suggestion[]> {
  const { parseVoices } = await import('../../engines/speak/voices.ts');
  return named(parseVoices(await ask(env.PATH, 'espeak-ng', '--voices')).map(({ language }) => language));
}

async function listRecognized(): Promise<readonly Suggestion[]> {
  const { findSpeechModels } = await import('../../engines/recognize/pocketsphinx.ts');
  const models = findSpeechModels().map(({ language }) => language);
  return [{ value: 'auto', explains: 'found out' }, ...named(models)];
}

async function askDirections({ env }: Sources) {
  const { parseDirections } = await import('../../engines/translate/apertium.ts');
  return parseDirections(await ask(env.PATH, 'apertium', '-l'));
}

/** Steps with engines of their own, and a word of the name of each engine, as `engines remove` accepts them. */
async function listEngines(around: Sources): Promise<readonly Suggestion[]> {
  const [{ readEnginesFile }, { locateEngines }] = await Promise.all([
    import('../../engines/config-file.ts'),
    import('../context/engines.ts'),
  ]);
  const location = locateEngines({ io: around, service: {} });
  const read = await readEnginesFile(location, () => undefined);
  if (read === null) return [];
  const [{ BACKEND_STEPS }, { nameEntry }] = await Promise.all([
    import('../../media/work.ts'),
    import('../../engines/entry.ts'),
  ]);
  return BACKEND_STEPS.flatMap((step) => {
    const names = (read.config[step] ?? []).map(nameEntry);
    const engines = names.map((name) => ({
      value: name.split(' ').at(-1) ?? name,
      explains: `${name}, to ${step}`,
    }));
    return engines.length === 0 ? [] : [{ value: step, explains: 'a step' }, ...engines];
  });
}

async function listModels(): Promise<readonly Suggestion[]> {
  const { readCatalog } = await import('../../engines/models/catalog.ts');
  return (await readCatalog()).map(({ id, title }) => ({ value: id, explains: title }));
}

async function listInstalledModels(around: Sources): Promise<readonly Suggestion[]> {
  const { locateModels } = await import('../engines/known-models.ts');
  const folders = await readdir(locateModels(around));
  return (await listModels()).filter(({ value }) => folders.includes(value));
}

/** The output of the program; empty when it is missing, fails or hangs. */
async function ask(path: string | undefined, program: string, argument: string): Promise<string> {
  const { execFile } = await import('node:child_process');
  return new Promise((resolve) => {
    execFile(
      program,
      [argument],
      { env: { PATH: path ?? '' }, timeout: LONGEST_MS, killSignal: 'SIGKILL', windowsHide: true },
      (error, stdout) => resolve(error === null ? stdout : ''),
    );
  });
}

function named(tags: readonly string[]): Suggestion[] {
  return [...new Set(tags)].sort().map((tag) => ({ value: tag, explains: languageName(tag) }));
}
