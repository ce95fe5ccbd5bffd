/**
 * Values that only this machine knows, for the shells: `vloc completion values SOURCE` prints one a line, a tab, and what it
 * is. Nothing of it touches the network, and whatever goes wrong, nothing is offered: a shell has no place for an error.
 */
import type { Offered, Surroundings } from './offered.ts';

type List = (around: Surroundings) => Promise<readonly Offered[]>;

const records = () => import('./records.ts');
const languages = () => import('./languages.ts');

const SOURCES = {
  profiles: async (around) => (await records()).listProfiles(around),
  jobs: async (around) => (await records()).listJobs(around),
  uploads: async (around) => (await records()).listUploads(around),
  'translation-targets': async (around) => (await languages()).listTranslationTargets(around),
  'translation-sources': async (around) => (await languages()).listTranslationSources(around),
  recognized: async () => (await languages()).listRecognized(),
  voices: async (around) => (await languages()).listVoices(around),
} as const satisfies Record<string, List>;

export type ValueSource = keyof typeof SOURCES;

/** A shell puts the value into the command line as it is; ids come from a service, and are not trusted. */
const SAFE = /^[\w.@+-]+$/;

/** The lines that a shell reads; none for a source that does not exist. */
export async function valueLines(source: string, around: Surroundings): Promise<string> {
  if (!isSource(source)) return '';
  const offered = await SOURCES[source](around).catch(() => []);
  const lines = offered
    .filter(({ value }) => SAFE.test(value))
    .map(({ value, explains }) => `${value}\t${explains.replace(/\p{Cc}+/gu, ' ')}\n`);
  return [...new Set(lines)].join('');
}

function isSource(source: string): source is ValueSource {
  return Object.hasOwn(SOURCES, source);
}
