/**
 * Values that only this machine knows, for the shells: `vloc completion values SOURCE` prints one a line, a tab, and what it
 * is. Nothing of it touches the network, and whatever goes wrong, nothing is offered: a shell has no place for an error.
 */
import { listRecognized, listTranslationSources, listTranslationTargets, listVoices } from './languages.ts';
import type { Offered, Surroundings } from './offered.ts';
import { listJobs, listProfiles, listUploads } from './records.ts';

const SOURCES = {
  profiles: listProfiles,
  jobs: listJobs,
  uploads: listUploads,
  'translation-targets': listTranslationTargets,
  'translation-sources': listTranslationSources,
  recognized: listRecognized,
  voices: listVoices,
} as const satisfies Record<string, (around: Surroundings) => Promise<readonly Offered[]>>;

export type ValueSource = keyof typeof SOURCES;
export const VALUE_SOURCES: readonly string[] = Object.keys(SOURCES);

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
