/**
 * Decides which lines of a translation come from memory, and records it before anything is sent, so that a resumed run sends the
 * same lines.
 */

import { isSplit } from '../input.ts';
import type { Delivery } from '../inputs/delivery.ts';
import type { BatchItem } from '../item.ts';
import type { Choices, Decision, OtherLines } from '../plan/decision.ts';
import { isJoinedKey } from '../records/item-key.ts';
import type { PreparedRecord } from '../records/part-records.ts';
import {
  alignTexts,
  type Memory,
  type MemoryRequest,
  memoryRequestOf,
  PERSON,
  readLines,
  type Sentence,
  sentencesOf,
} from '../records/translation-memory.ts';
import type { Terms } from '../terms.ts';

/** The text of each line; null for one that is sent. */
export type KnownTexts = readonly (string | null)[];

export interface Recall {
  readonly texts: KnownTexts;
  /** Whether the result was made of it. Until then it does not change. */
  readonly isDone: boolean;
}

/** The memory of a run. */
export interface BatchMemory {
  readonly store: Memory;
  /** Names the service or the engines. */
  readonly origin: string;
  /** The lines of finished items that were not sent whole, and how many of them were remembered. */
  readonly used: { lines: number; known: number };
}

/** The sources from which the lines of an item are recalled. */
export interface RecallSource {
  readonly memory?: BatchMemory | undefined;
  readonly terms?: Terms | undefined;
  readonly masksTerms?: boolean | undefined;
  /** --fresh: nothing is recalled. */
  readonly fresh: boolean;
  /** Template of the names of results. */
  readonly template: string;
  /** Recalls of earlier runs, by `recallKey`. */
  readonly recorded: ReadonlyMap<string, Recall>;
}

/** The known lines of an item; null for one that is sent whole, or needs no job. */
export async function findRecall(
  source: RecallSource,
  item: BatchItem,
  decision: Decision,
): Promise<Recall | null> {
  const { memory, fresh, template, recorded } = source;
  const { input } = item;
  if (memory === undefined || item.kind !== 'subtitle_translation' || input.type !== 'lines') return null;
  const known = recorded.get(recallKey(item)) ?? null;
  const { step } = decision;
  if (step === 'continue' && 'key' in decision.next) return isJoinedKey(decision.next.key) ? known : null;
  if (step === 'continue' && decision.next.step !== 'parts') return null;
  const isNew = step === 'new';
  if (known?.isDone === false && !(fresh && isNew)) return known;
  // A name with the id of a job needs a job.
  if (fresh || template.includes('{id}')) return null;
  const isGone = step === 'expired' && isJoinedKey(decision.key);
  if (!isNew && !isGone) return null;
  const request = memoryRequestOf(item, memory.origin);
  const sentences = await sentencesOfItem(source, item);
  const texts = recallTexts(memory.store, request, sentences);
  const sent = texts.filter((text) => text === null).length;
  const isTooLong =
    isSplit(input) && sent > Math.max(...(input.parts ?? []).map(({ lines }) => lines.length));
  if (sent === texts.length || isTooLong || (isGone && sent > 0)) return null;
  return { texts, isDone: false };
}

/** The remembered text of each cue; null for none. */
function recallTexts(store: Memory, request: MemoryRequest, sentences: readonly Sentence[]): KnownTexts {
  return store
    .recall(request, sentences)
    .flatMap((target, at) => sentences[at]?.cues.map((_, place) => target?.[place] ?? null) ?? []);
}

/** Returns what counts the lines of a translation that a person has translated in other words; undefined if none can be used. */
export function createOtherLines(
  store: Memory,
  { template, existing }: Pick<Delivery, 'template' | 'existing'>,
): Choices['otherLines'] {
  // A name with the id of a job needs a job.
  if (!store.hasPersonal() || template.includes('{id}')) return undefined;
  const count: OtherLines['count'] = async (item, path) => {
    const { input } = item;
    if (input.type !== 'lines') return 0;
    // Formats differ in the tags that they keep.
    const { stripMarkup } = await import('../../media/subtitles/text.ts');
    const request = { ...memoryRequestOf(item, PERSON), origin: PERSON };
    const texts = recallTexts(store, request, await sentencesOfItem({}, item));
    const written = path === null ? [] : alignTexts(input.lines, (await readLines(path)) ?? []);
    return texts.filter((text, at) => text !== null && stripMarkup(text) !== stripMarkup(written[at] ?? ''))
      .length;
  };
  return { count, isUsed: existing === 'replace' };
}

/** The sentences of an item with lines. */
export async function sentencesOfItem(
  { terms, masksTerms = false }: Pick<RecallSource, 'terms' | 'masksTerms'>,
  { input, targetLanguage }: BatchItem,
): Promise<readonly Sentence[]> {
  if (input.type !== 'lines') return [];
  return sentencesOf(input.lines, targetLanguage ?? '', terms, masksTerms);
}

const RECIPE = 'memory ';

/** Names what an item is made from: other lines or options are recalled again. */
export function recallKey({ key, optionsDigest, input }: BatchItem): string {
  const sha256 = input.type === 'lines' ? input.sha256 : '';
  return `${sha256} ${RECIPE}${optionsDigest} ${key}`;
}

/** The record of a recall. */
export function recallRecord(item: BatchItem, recall: Recall): PreparedRecord {
  const [source = '', recipe] = splitOnce(recallKey(item));
  return { type: 'prepared', source, recipe, files: [], split: recall };
}

/** The recalls among prepared files, by `recallKey`. */
export function readRecalls(prepared: readonly PreparedRecord[]): Map<string, Recall> {
  return new Map(
    prepared.flatMap(({ source, recipe, split }) =>
      // As `recallRecord` wrote it; the checksum of the row fits.
      recipe.startsWith(RECIPE) ? [[`${source} ${recipe}`, split as Recall] as const] : [],
    ),
  );
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf(' ');
  return [text.slice(0, at), text.slice(at + 1)];
}
