/** Keys of items and parts, the same in every run, and the newest attempts of each key. */
import { hash } from 'node:crypto';
import type { JobKind } from '../../protocol/kind-names.ts';
import { isSampleTemplate } from '../result-name.ts';
import type { Attempt, Attempts, StoredFile } from './attempts.ts';
import type { ReadRecords } from './batch-records.ts';
import type { FindOutputs } from './outputs.ts';
import { stripAddress } from './secrets.ts';

/**
 * The same in every run of the same command. Results with other names are other items: a video with the original sound and
 * one without it can exist side by side.
 * @param name of the input below its root; see `JobInput`
 * @param template of the names of results; null for the usual one
 */
export function itemKey(
  kind: JobKind,
  name: string,
  targetLanguage: string | null,
  template: string | null = null,
): string {
  return JSON.stringify([kind, name, targetLanguage, ...(template === null ? [] : [template])]);
}

/** Ends the labels of samples, and the names of their jobs in stages. */
export const SAMPLE_SUFFIX = ' (sample)';

/** The name of an input without the mark of a sample. */
export function wholeName(name: string): string {
  return name.endsWith(SAMPLE_SUFFIX) ? name.slice(0, -SAMPLE_SUFFIX.length) : name;
}

/** Whether a key is that of a sample: marked by the name of its results, and in stages by the name of its input. */
export function isSampleKey(key: string): boolean {
  const template = wordsOf(key)[3];
  const isMarked = typeof template === 'string' && isSampleTemplate(template);
  return isMarked || (nameOfKey(key)?.endsWith(SAMPLE_SUFFIX) ?? false);
}

/** The name of the input in a key; null if the text is not a key. */
export function nameOfKey(key: string): string | null {
  const name = wordsOf(key)[1];
  return typeof name === 'string' ? name : null;
}

function wordsOf(key: string): readonly unknown[] {
  try {
    const words: unknown = JSON.parse(key);
    return Array.isArray(words) ? words : [];
  } catch {
    return [];
  }
}

/** The key of the same item for an input with another name; null if the text is not the key of a whole item. */
export function keyWithName(key: string, name: string): string | null {
  if (nameOfKey(key) === null || readPartKey(key) !== null) return null;
  const words: unknown[] = JSON.parse(key);
  return JSON.stringify(words.with(1, name));
}

/** How storage services sign addresses, with new values each time: the parameter with the signature, and its companions. */
const SIGNED = [
  { by: /^x-(amz|goog)-signature$/i, parts: /^x-(amz|goog)-/i },
  { by: /^signature$/i, parts: /^(expires|signature|policy|key-pair-id|googleaccessid|awsaccesskeyid)$/i },
  { by: /^sig$/i, parts: /^(sig|se|sp|sr|st|sv|spr|sip|ske|skoid|sks|skt|sktid|skv)$/i },
];

/** 48 bits are enough to distinguish the queries of one address. */
const QUERY_DIGITS = 12;

/**
 * An address without secrets. A query that selects the file is kept as a digest; parameters that only sign the address are
 * omitted, so that the same file with a new signature is the same input.
 */
export function addressName(address: string): string {
  const all = [...new URL(address).searchParams];
  const scheme = SIGNED.find(({ by }) => all.some(([name]) => by.test(name)));
  const pairs = scheme === undefined ? all : all.filter(([name]) => !scheme.parts.test(name));
  if (pairs.length === 0) return stripAddress(address);
  const digest = hash('sha256', JSON.stringify(pairs)).slice(0, QUERY_DIGITS);
  return `${stripAddress(address)}?${digest}`;
}

interface PartName {
  /** From 1. */
  readonly part: number;
  readonly of: number;
  /** Digest of the source, the position and the options of the part: another digest is another part. */
  readonly made: string;
}

/** 48 bits are enough to distinguish the ways of cutting one input. */
const MADE_DIGITS = 12;

/** The digest of everything that determines a part. */
export function digestMaking(facts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(facts)).slice(0, MADE_DIGITS);
}

/** The same of parts of subtitles. @param offsetsMs their starts */
export function digestLinesMaking(
  source: string,
  { optionsDigest }: { readonly optionsDigest: string },
  offsetsMs: readonly number[],
): string {
  return digestMaking([source, optionsDigest, offsetsMs]);
}

/** @param itemKey see `itemKey`: a JSON array, to which the name of the part is appended */
export function partKey(itemKey: string, { part, of, made }: PartName): string {
  const words: unknown[] = JSON.parse(itemKey);
  return JSON.stringify([...words, { part, of, made }]);
}

/** The key of the item that a part belongs to, and the name of the part; null for the key of a whole item. */
export function readPartKey(key: string): { readonly item: string; readonly name: PartName } | null {
  // Most keys are of whole items. Parsing each of them would be most of the work.
  if (!key.endsWith('"}]')) return null;
  try {
    const words: unknown = JSON.parse(key);
    if (!Array.isArray(words)) return null;
    const name: unknown = words.at(-1);
    return isPartName(name) ? { item: JSON.stringify(words.slice(0, -1)), name } : null;
  } catch {
    return null;
  }
}

function isPartName(value: unknown): value is PartName {
  return typeof value === 'object' && value !== null && 'part' in value && 'of' in value && 'made' in value;
}

/** Begins the key of an attempt that was never sent. */
export const JOINED = 'joined:';

/** Whether the key of an attempt is that of joined results. */
export function isJoinedKey(key: string): boolean {
  return key.startsWith(JOINED);
}

/** The newest attempts of the parts of the latest cut, in the order of the parts. */
export function partAttempts(itemKey: string, attempts: Attempts): readonly Attempt[] {
  const found = [...attempts.byItem.keys()].flatMap((key) => {
    const read = readPartKey(key);
    const attempt = read?.item === itemKey ? newestAttempt(key, attempts) : null;
    return read === null || attempt === null ? [] : [{ attempt, name: read.name }];
  });
  const newest = found.reduce<(typeof found)[number] | null>(
    (best, each) => (best === null || askedMs(each.attempt) >= askedMs(best.attempt) ? each : best),
    null,
  );
  return found
    .filter(({ name }) => name.made === newest?.name.made)
    .toSorted((left, right) => left.name.part - right.name.part)
    .map(({ attempt }) => attempt);
}

/** The results of an item that its next result may replace: also one that was named and not yet recorded as done. */
export function ownFiles(
  key: string,
  { findOutputs }: { readonly findOutputs?: FindOutputs },
): readonly StoredFile[] {
  return findOutputs?.({ item: key, step: 'result' }) ?? [];
}

/** Time of the attempt, milliseconds since 1970. */
export function askedMs({ asked_at }: Attempt): number {
  return Date.parse(asked_at);
}

/** The newest attempt of an item; null if there is none. */
export function newestAttempt(item: string, attempts: Attempts): Attempt | null {
  const key = attempts.byItem.get(item)?.at(-1);
  return (key === undefined ? undefined : attempts.byKey.get(key)) ?? null;
}

/** Keys of the items and parts that records know and that were not forgotten, in the order of the batch. */
export function readItemKeys({
  commands,
  facts,
  attempts,
  stages,
}: Pick<ReadRecords, 'commands' | 'facts' | 'attempts' | 'stages'>): ReadonlySet<string> {
  return new Set([
    ...commands.flatMap(({ items }) => items),
    ...facts.keys(),
    ...attempts.byItem.keys(),
    ...stages.finished.keys(),
  ]);
}
