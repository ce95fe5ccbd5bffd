/** Checks translations for the terms of --terms, and records those that are lost for reports. */
import { readFile } from 'node:fs/promises';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { BatchItem, ItemState } from '../item.ts';
import { findLostTerms, type TermLoss, type Terms } from '../terms.ts';
import type { Batch } from './batch.ts';
import type { BatchJournal } from './journal.ts';

type DoneState = Extract<ItemState, { phase: 'done' }>;
type Lines = readonly SubtitleLine[];

interface TermChecks {
  readonly batch: Pick<Batch, 'terms' | 'warn'> & {
    readonly delivery: Pick<Batch['delivery'], 'toStdout' | 'isInner'>;
  };
  readonly journal: Pick<BatchJournal, 'add' | 'intents' | 'provenances'>;
}

/**
 * The state of a finished item with the terms that its translation lacks now, which may have been edited since it was made.
 * @param readSource reads lines that are not in the item; null if this machine cannot
 */
export async function withLostTerms(
  { batch: { terms, warn, delivery }, journal }: TermChecks,
  item: BatchItem,
  state: DoneState,
  readSource: () => Promise<Lines | null> = async () => null,
): Promise<DoneState> {
  const path = state.files[0]?.path;
  // The whole is checked, not its parts, and in a localization the file beside the video.
  const isWhole = item.part === undefined && delivery.isInner !== true;
  const isChecked = item.kind === 'subtitle_translation' && isWhole;
  const isHere = state.before === null || state.before === 'downloaded';
  if (terms === undefined || path === undefined || !isChecked || !isHere) return state;
  if (terms.in(item.targetLanguage ?? '').length === 0) return state;
  const source = item.input.type === 'lines' ? item.input.lines : await readSource();
  const translated = source === null ? 'its source is not on this machine' : await readTranslation(path);
  if (source === null || typeof translated === 'string') {
    warn(`${item.label}: its terms were not checked: ${translated}.`);
    return state;
  }
  const losses = findLosses(terms, item.targetLanguage, source, {
    lines: translated,
    file: delivery.toStdout === true ? '-' : path,
  });
  await recordLosses(journal, item.key, losses);
  if (losses.length === 0) return state;
  return { ...state, provenance: { engines: [], cues: [], ...state.provenance, lost_terms: losses } };
}

/** The terms that a translation lacks. @param language its target language */
export function findLosses(
  terms: Terms,
  language: string | null,
  source: Lines,
  { lines, file }: { readonly lines: Lines; readonly file: string },
): readonly TermLoss[] {
  return findLostTerms(terms.in(language ?? ''), source, lines).map((lost) => ({ file, ...lost }));
}

/** Records them for reports, in place of those of an earlier check. @param item its key */
export async function recordLosses(
  { intents, provenances, add }: TermChecks['journal'],
  item: string,
  losses: readonly TermLoss[],
): Promise<void> {
  const key = intents.byItem.get(item)?.at(-1);
  if (key === undefined) return;
  const { lost_terms: before, ...made } = provenances.get(key) ?? { engines: [], cues: [] };
  if (losses.length === 0 && before === undefined) return;
  const provenance = losses.length === 0 ? made : { ...made, lost_terms: losses };
  await add({ type: 'made', key, provenance });
}

/** The cues of a result; the reason if it cannot be read. */
async function readTranslation(path: string): Promise<Lines | string> {
  const { readSubtitleFile } = await import('../../media/subtitles/read.ts');
  try {
    return readSubtitleFile(await readFile(path), path);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
