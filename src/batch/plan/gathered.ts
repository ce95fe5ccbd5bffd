/** What the file with all languages of a video is made of, and whether it has to be made. */
import { stat } from 'node:fs/promises';
import { keptResult } from '../inputs/items.ts';
import type { BatchItem } from '../item.ts';
import { nameWork } from '../kept-tracks.ts';
import { sampleOf } from '../records/item-facts.ts';
import { digestMaking, newestAttempt, ownFiles } from '../records/item-key.ts';
import type { Choices, Decision, Recorded } from './decision.ts';

type Records = Pick<Recorded, 'attempts' | 'findOutputs'>;

/** The results of languages that are on the disk, and a digest of all that the file is made of. */
export interface Gathered {
  readonly made: string;
  /** In the order of the tracks. Languages are BCP 47 tags. */
  readonly videos: readonly { readonly path: string; readonly language: string }[];
}

export async function readGathered(item: BatchItem, recorded: Records): Promise<Gathered> {
  const found = await Promise.all((item.gathers ?? []).map((language) => findResult(language, recorded)));
  const results = found.filter((each) => each !== null);
  const kept = keptResult(item);
  const { path: _, ...source } = kept?.source ?? {};
  const how = [source, sampleOf(item), kept?.isFirst, nameWork(kept)];
  const videos = results.map(({ language, sha256 }) => [language, sha256]);
  return { made: digestMaking([how, videos]), videos: results };
}

/** The video of a language: the result of its job, or put together here from those of its stages. */
async function findResult({ key, targetLanguage }: BatchItem, { attempts, findOutputs }: Records) {
  const newest = newestAttempt(key, attempts);
  const delivered = newest?.state === 'downloaded' ? newest.files : [];
  for (const { path, size, sha256 } of [
    ...delivered,
    ...(findOutputs?.({ item: key, step: 'export' }) ?? []),
  ]) {
    const isHere = (await sizeOf(path)) === size;
    if (isHere) return { path, sha256, language: targetLanguage ?? '' };
  }
  return null;
}

async function sizeOf(path: string): Promise<number | null> {
  return (await stat(path).catch(() => null))?.size ?? null;
}

/** The item with those of its languages that have a result, as far as they are known to have one or not. */
export function withLanguages(item: BatchItem, isDone: ReadonlyMap<string, boolean>): BatchItem {
  const { gathers = [] } = item;
  return { ...item, gathers: gathers.filter(({ key }) => isDone.get(key) ?? true) };
}

/** Makes the file if a language is made, or if it was made of other results, or is gone. */
export async function decideGathered(
  item: BatchItem,
  languages: ReadonlyMap<string, Decision>,
  recorded: Records,
  { fresh, replace, skipDone = false }: Pick<Choices, 'fresh' | 'replace' | 'skipDone'>,
): Promise<Decision> {
  const replaces = ownFiles(item.key, recorded);
  const anew: Decision = { step: 'new', after: null, replaces };
  const known = (item.gathers ?? []).flatMap(({ key }) => languages.get(key) ?? []);
  if (fresh || known.some(({ step }) => DUE.includes(step))) return anew;
  const isDone = new Map([...languages].map(([key, { step }]) => [key, step === 'done']));
  const { made } = await readGathered(withLanguages(item, isDone), recorded);
  const file = recorded.findOutputs?.({ item: item.key, step: 'result' }).find((row) => row.made === made);
  if (file === undefined || newestAttempt(item.key, recorded.attempts)?.state !== 'downloaded') return anew;
  const size = await sizeOf(file.path);
  if (size === file.size) return { step: 'done', before: 'downloaded', jobId: null, files: [file] };
  if (skipDone) return { step: 'done', before: 'recorded', jobId: null, files: [] };
  return size === null || replace ? anew : { step: 'edited', path: file.path };
}

/** Decisions after which a language may get another result. */
const DUE: readonly Decision['step'][] = ['new', 'continue', 'expired'];
