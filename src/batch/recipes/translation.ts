/**
 * The recipe of a translation whose result is merged from several places: lines that are remembered are not sent, and with
 * `--mask-terms` there is a job of the others with placeholders for terms, and one of the plain cues whose placeholders did not
 * come back.
 */
import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { usageFailure } from '../../base/failure.ts';
import { formatSrt } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { readResultLines } from '../deliver/result-lines.ts';
import type { JobInput } from '../input.ts';
import type { BatchItem } from '../item.ts';
import type { Attempts } from '../records/attempts.ts';
import { newestAttempt } from '../records/item-key.ts';
import type { BatchPlace } from '../records/record-folder.ts';
import { alignTexts } from '../records/translation-memory.ts';
import { makeResult } from '../run/make-result.ts';
import { type Parts, partsOfLines } from '../run/parts.ts';
import { type KnownTexts, type Recall, recallKey, recallRecord } from '../run/recall.ts';
import type { Run } from '../run/run.ts';
import {
  type JobResult,
  type JobStep,
  jobOf,
  type Known,
  type Recipe,
  resultsOf,
  work,
} from '../run/step.ts';
import { type MaskedLines, maskTerms, restoreTerms, type Terms } from '../terms.ts';

type Lines = readonly SubtitleLine[];
type LinesInput = JobInput & { readonly type: 'lines' };

/** What is sent of a translation. */
export interface SentLines {
  readonly input: LinesInput;
  /** The lines that are sent, as they are. */
  readonly plain: Lines;
  /** The same with placeholders; null if there are none. */
  readonly masked: MaskedLines | null;
}

/** The lines that are not known. @param masking terms that are replaced by placeholders */
export function linesToSend(
  { targetLanguage }: BatchItem,
  input: LinesInput,
  known: KnownTexts,
  masking: Terms | undefined,
): SentLines {
  const plain = renumber(input.lines.filter((_, at) => known[at] === null));
  const masked = masking === undefined ? null : maskTerms(masking.in(targetLanguage ?? ''), plain);
  return { input, plain, masked };
}

/** @param recall null if nothing is remembered */
export function translationRecipe(
  place: BatchPlace,
  item: BatchItem,
  sent: SentLines,
  recall: Recall | null,
): Recipe {
  const { input, plain, masked } = sent;
  const texts = recall?.texts ?? input.lines.map(() => null);
  const first = partsOf(place, item, sent, []);
  const recalling = work('recall', [], async ({ run }) => {
    if (recall !== null) await recordRecall(run, item, { ...recall, isDone: false });
  });
  const jobs = plain.length === 0 ? [] : jobsFor(first, 0);
  const restoring = (known: Known) => {
    const [result] = resultsOf(known, jobs);
    return work('restore', jobs, async () => {
      const read = await readTexts(masked?.lines ?? plain, result);
      const { texts: restored, lost: without } = restoreTerms(read, masked?.hidden ?? []);
      const isLost = (at: number) => masked !== null && (restored[at] === null || without.has(at));
      return { texts: restored, lost: plain.filter((_, at) => isLost(at)) };
    });
  };
  function jobsFor({ items }: Parts, at: 0 | 1): readonly JobStep[] {
    return items.slice(at, at + 1).map((part) => jobOf(part, [recalling]));
  }
  return (known) => {
    const restore = restoring(known);
    const { lost = [] } = known.value(restore) ?? {};
    const again = lost.length === 0 ? [] : jobsFor(partsOf(place, item, sent, lost), 1);
    const all = [...jobs, ...again];
    const results = resultsOf(known, all);
    return work('merge', [restore, ...again], async ({ run }) => {
      const answers: (string | null)[] = [...(known.value(restore)?.texts ?? [])];
      const found = again.length === 0 ? [] : await readTexts(lost, results[1]);
      for (const [at, line] of lost.entries()) answers[plain.indexOf(line)] = found[at] ?? null;
      const merged = mergeTexts(texts, answers);
      const lines = input.lines.flatMap((line, at): SubtitleLine[] => {
        const text = merged[at] ?? null;
        return text === null ? [] : [{ ...line, text }];
      });
      const made = await makeResult(run, item, {
        ...{ made: first.made, sha256: input.sha256, items: all.map(({ part }) => part), results },
        async make({ folder }) {
          const path = join(folder, 'subtitle.srt');
          await writeFile(path, formatSrt(lines));
          return [{ label: 'subtitle', path, notes: [] }];
        },
      });
      if (recall === null) return made;
      await recordRecall(run, item, { ...recall, isDone: true });
      countLines(run, texts.length, plain.length);
      return made;
    });
  };
}

/** The failure of a result that was made of jobs whose results have placeholders. */
export function maskedGoneFailure() {
  return usageFailure(
    'RESULT_GONE',
    'the result was made with --mask-terms and is no longer here',
    'Run the same command with --mask-terms and the same terms: what the service still has is not charged again.',
  );
}

/** The part that is sent, and with placeholders another one: the plain cues that are translated again. */
function partsOf(place: BatchPlace, item: BatchItem, { input, plain, masked }: SentLines, again: Lines) {
  const sent = masked?.lines ?? plain;
  const source = hash('sha256', JSON.stringify([input.sha256, sent]));
  const parts = masked === null ? [sent] : [sent, renumber(again)];
  const places = parts.map((lines) => ({ lines, offsetMs: 0 }));
  return partsOfLines(place, item, places, { source, sha256: input.sha256 });
}

/** Whether an earlier run has sent the lines that are not known, and they have not failed. */
export function isSent(place: BatchPlace, item: BatchItem, sent: SentLines, attempts: Attempts): boolean {
  const [part] = partsOf(place, item, sent, []).items;
  const state = part === undefined ? undefined : newestAttempt(part.key, attempts)?.state;
  return state !== undefined && state !== 'refused' && state !== 'failed' && state !== 'cancelled';
}

/** Each line from what is known of it, and the others from the answers, in order. */
export function mergeTexts(known: KnownTexts, answers: KnownTexts): (string | null)[] {
  let next = 0;
  return known.map((text) => text ?? answers[next++] ?? null);
}

function renumber(lines: Lines): Lines {
  return lines.map((line, at) => ({ ...line, index: at + 1 }));
}

/** The translated text of each line; null for one that has none. */
async function readTexts(lines: Lines, result: JobResult | undefined): Promise<(string | null)[]> {
  const path = result?.files[0]?.path;
  if (path === undefined) return lines.map(() => null);
  return alignTexts(lines, await readResultLines(path));
}

async function recordRecall(run: Run, item: BatchItem, recall: Recall): Promise<void> {
  await run.journal.add(recallRecord(item, recall));
  run.recalled.recorded.set(recallKey(item), recall);
}

function countLines({ batch: { memory } }: Run, lines: number, sent: number): void {
  if (memory === undefined) return;
  memory.used.lines += lines;
  memory.used.known += lines - sent;
}
