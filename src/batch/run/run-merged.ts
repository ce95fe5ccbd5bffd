/**
 * Runs a translation for `--mask-terms` in up to two jobs: one of all cues, with placeholders for terms, and one of the plain
 * cues whose placeholders did not come back. Both are parts of the item in the journal, so that each is resumed by itself.
 */
import { hash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { usageFailure } from '../../base/failure.ts';
import { formatSrt } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { BatchItem } from '../item.ts';
import type { Decision } from '../plan/decision.ts';
import { createItemFacts } from '../plan/facts.ts';
import { isSplit, type JobInput } from '../plan/input.ts';
import { recordFolder } from '../record-folder.ts';
import { type MaskedLines, maskTerms, restoreTerms } from '../terms.ts';
import type { RunOutcome } from './batch.ts';
import { isJoinedKey, joinResults, partDelivery, partsOfLines, type SplitItem } from './join-parts.ts';
import { withLostTerms } from './lost-terms.ts';
import type { Run } from './run.ts';
import { outcomeOf, runItem } from './run-item.ts';
import { creditsOf, decideParts, provenanceOf, takeUpParts, unfinishedOf } from './run-parts.ts';

type Lines = readonly SubtitleLine[];

interface MaskedRun {
  readonly run: Run;
  readonly item: BatchItem;
  readonly input: JobInput & { readonly type: 'lines' };
  readonly order: number;
  readonly masked: MaskedLines;
  /** Ids of its jobs. */
  readonly jobs: string[];
}

/** Runs an item with placeholders; null for one that has no terms to replace, or a plain job already. */
export async function runMasked(
  run: Run,
  item: BatchItem,
  order: number,
  decision: Decision,
): Promise<RunOutcome | null> {
  const { terms, masksTerms = false, warn } = run.batch;
  if (item.kind !== 'subtitle_translation') return null;
  const isJoined = decision.step === 'continue' && 'key' in decision.next && isJoinedKey(decision.next.key);
  if (isJoined && !isSplit(item.input) && !masksTerms) return failGone(run, item);
  if (!masksTerms || terms === undefined || !(isJoined || decision.step === 'new')) return null;
  const { input } = item;
  if (input.type !== 'lines' || isSplit(input)) {
    warn(
      `${item.label}: its terms are sent as they are: they are replaced in a file of up to 10,000 lines only.`,
    );
    return null;
  }
  const masked = maskTerms(terms.in(item.targetLanguage ?? ''), input.lines);
  if (masked === null) return null;
  // --fresh replaces what earlier runs made, not jobs that this run has started.
  const fresh = run.batch.options.fresh && decision.step === 'new';
  const own = { ...run, batch: { ...run.batch, options: { ...run.batch.options, fresh } } };
  const jobs: string[] = [];
  let state: RunOutcome['state'];
  try {
    state = await runJobs({ run: own, item, input, order, masked, jobs });
  } catch (error) {
    state = outcomeOf(run, jobs[0] ?? null, error);
  }
  run.tell(item, state);
  return { item, state, job: null, partJobs: jobs };
}

/** The result is made of jobs whose results have placeholders. */
function failGone(run: Run, item: BatchItem): RunOutcome {
  const failure = usageFailure(
    'RESULT_GONE',
    'the result was made with --mask-terms and is no longer here',
    'Run the same command with --mask-terms and the same terms: what the service still has is not charged again.',
  );
  const state = { phase: 'failed', jobId: null, failure } as const;
  run.tell(item, state);
  return { item, state, job: null };
}

async function runJobs(masked: MaskedRun): Promise<RunOutcome['state']> {
  const { run, item, input, jobs } = masked;
  const { hidden, lines } = masked.masked;
  await run.journal.add(createItemFacts(item, input.sha256));
  const sent = partsOf(masked, []);
  const folder = join(recordFolder(run.batch.delivery), 'parts', `${sent.made}-${item.targetLanguage}`);
  const first = await runPart(masked, folder, sent, 0);
  if (first.state.phase !== 'done') return unfinishedOf([first], jobs[0] ?? null) ?? first.state;
  const { texts, lost: without } = restoreTerms(await readTexts(lines, first), hidden);
  const lost = input.lines.filter((_, at) => texts[at] === null || without.has(at));
  const parts = partsOf(masked, lost);
  const outcomes = [first];
  if (lost.length > 0) {
    const again = await runPart(masked, folder, parts, 1);
    if (again.state.phase !== 'done') return unfinishedOf([again], jobs[0] ?? null) ?? again.state;
    outcomes.push(again);
    const found = await readTexts(lost, again);
    for (const [at, line] of lost.entries()) texts[input.lines.indexOf(line)] = found[at] ?? null;
  }
  const whole = { ...parts, items: parts.items.slice(0, outcomes.length) };
  const merged = input.lines.flatMap((line, at): SubtitleLine[] => {
    const text = texts[at] ?? null;
    return text === null ? [] : [{ ...line, text }];
  });
  const files = await joinMerged(run, item, whole, { outcomes, merged, folder });
  const made = { credits: creditsOf({ run, parts: whole }), provenance: provenanceOf({ run, parts: whole }) };
  return withLostTerms(run, item, {
    ...{ phase: 'done', jobId: jobs[0] ?? null, files, before: null },
    ...made,
  });
}

/** Both parts: all cues with placeholders, and the plain cues that are translated again. */
function partsOf({ item, input, masked }: MaskedRun, again: Lines): SplitItem {
  const plain = again.map((line, at) => ({ ...line, index: at + 1 }));
  const source = hash('sha256', JSON.stringify([input.sha256, masked.lines]));
  const parts = [masked.lines, plain].map((lines) => ({ lines, offsetMs: 0 }));
  return { ...partsOfLines(item, parts, source), sha256: input.sha256 };
}

/** Runs one of the parts into the private folder. */
async function runPart(
  { run, order, jobs }: MaskedRun,
  folder: string,
  parts: SplitItem,
  place: 0 | 1,
): Promise<RunOutcome> {
  const [part] = parts.items.slice(place);
  if (part === undefined) throw new TypeError('there are two parts');
  const split = { run, parts: { ...parts, items: [part] }, source: null };
  const [decision] = await takeUpParts(split, await decideParts(split));
  const own = { ...run, batch: { ...run.batch, delivery: partDelivery(folder) } };
  const outcome = await runItem(own, part, order, decision ?? { step: 'new', after: null });
  if (outcome.state.jobId !== null) jobs.push(outcome.state.jobId);
  return outcome;
}

/** The translated text of each line; null for one that has none. */
async function readTexts(lines: Lines, { state }: RunOutcome): Promise<(string | null)[]> {
  const path = state.phase === 'done' ? state.files[0]?.path : undefined;
  if (path === undefined) return lines.map(() => null);
  const { readSubtitleFile } = await import('../../media/subtitles/read.ts');
  const translated = readSubtitleFile(await readFile(path), path);
  if (translated.length === lines.length) return translated.map(({ text }) => text);
  const byStart = new Map(translated.map(({ start_ms, text }) => [start_ms, text]));
  return lines.map(({ start_ms }) => byStart.get(start_ms) ?? null);
}

interface MergedLines {
  readonly outcomes: readonly RunOutcome[];
  readonly merged: Lines;
  readonly folder: string;
}

/** Names and records the merged lines as results of parts are. */
function joinMerged(run: Run, item: BatchItem, parts: SplitItem, { outcomes, merged, folder }: MergedLines) {
  const results = outcomes.flatMap(({ state }) =>
    state.phase === 'done' ? [{ jobId: state.jobId ?? '', files: state.files }] : [],
  );
  const preparation: Run['batch']['preparation'] = {
    ...run.batch.preparation,
    async join(_task, work) {
      const path = join(work.folder, 'subtitle.srt');
      await writeFile(path, formatSrt(merged));
      return [{ label: 'subtitle', path, notes: [] }];
    },
  };
  return joinResults({ ...run, batch: { ...run.batch, preparation } }, item, parts, results, folder);
}
