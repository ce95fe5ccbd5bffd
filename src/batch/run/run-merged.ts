/**
 * Runs a translation whose result is merged from several places: lines that are remembered are not sent, and with
 * `--mask-terms` there is a job of the others with placeholders for terms, and one of the plain cues whose placeholders did not
 * come back. The jobs are parts of the item in the journal, so that each is resumed by itself.
 */
import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { usageFailure } from '../../base/failure.ts';
import { formatSrt } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { readResultLines } from '../deliver/result-lines.ts';
import type { BatchItem } from '../item.ts';
import { alignTexts } from '../memory.ts';
import type { Decision } from '../plan/decision.ts';
import { isSplit, type JobInput } from '../plan/input.ts';
import { isJoinedKey, newestIntent } from '../plan/item-key.ts';
import type { Intents } from '../records/intents.ts';
import { type MaskedLines, maskTerms, restoreTerms, type Terms } from '../terms.ts';
import type { Batch, RunOutcome } from './batch.ts';
import { checkTranslation } from './check-translation.ts';
import { joinResults, partsFolder, partsOfLines, recordFirstFacts, type SplitItem } from './join-parts.ts';
import { findRecall, type KnownTexts, type Recall, recallKey, recallRecord } from './recall.ts';
import type { Run } from './run.ts';
import { outcomeOf } from './run-item.ts';
import { creditsOf, provenanceOf, runPart, unfinishedOf } from './run-parts.ts';

type Lines = readonly SubtitleLine[];

interface SentLines {
  readonly item: BatchItem;
  readonly input: JobInput & { readonly type: 'lines' };
  /** The lines that are sent, as they are. */
  readonly plain: Lines;
  /** The same with placeholders; null if there are none. */
  readonly masked: MaskedLines | null;
}

interface MergedRun extends SentLines {
  readonly run: Run;
  readonly order: number;
  /** The known translation of each line; null for those that are sent. */
  readonly known: KnownTexts;
  /** Ids of its jobs. */
  readonly jobs: string[];
}

/** Runs an item with what is remembered of it, or with placeholders; null for one that is one plain job, or has one already. */
export async function runMerged(
  run: Run,
  item: BatchItem,
  order: number,
  decision: Decision,
): Promise<RunOutcome | null> {
  if (item.kind !== 'subtitle_translation') return null;
  const { terms, masksTerms = false, warn } = run.batch;
  const isJoined = decision.step === 'continue' && 'key' in decision.next && isJoinedKey(decision.next.key);
  const recalled = await findRecall(recallSourceOf(run), item, decision);
  if (recalled === null && isJoined && !isSplit(item.input) && !masksTerms) return failGone(run, item);
  const { input } = item;
  const isMasked = masksTerms && terms !== undefined && (isJoined || decision.step === 'new');
  if (recalled === null && !isMasked) return null;
  if (input.type !== 'lines' || (recalled === null && isSplit(input))) {
    warn(
      `${item.label}: its terms are sent as they are: they are replaced in a file of up to 10,000 lines only.`,
    );
    return null;
  }
  const known = recalled?.texts ?? input.lines.map(() => null);
  const sent = linesToSend(item, input, known, masksTerms ? terms : undefined);
  if (recalled === null && sent.masked === null) return null;
  // --fresh replaces what earlier runs made, not jobs that this run has started.
  const fresh = run.batch.options.fresh && decision.step === 'new';
  const own = { ...run, batch: { ...run.batch, options: { ...run.batch.options, fresh } } };
  const jobs: string[] = [];
  let state: RunOutcome['state'];
  try {
    if (recalled !== null) await recordRecall(run, item, { ...recalled, isDone: false });
    state = await runJobs({ ...sent, run: own, order, known, jobs });
    if (recalled !== null && state.phase === 'done') {
      await recordRecall(run, item, { ...recalled, isDone: true });
      count(run, known.length, sent.plain.length);
    }
  } catch (error) {
    state = outcomeOf(run, jobs[0] ?? null, error);
  }
  run.tell(item, state);
  return { item, state, job: null, partJobs: jobs };
}

function recallSourceOf({ batch, recalled }: Run) {
  const { memory, terms, masksTerms, options, delivery } = batch;
  const { template } = delivery;
  return { memory, terms, masksTerms, fresh: options.fresh, template, recorded: recalled.recorded };
}

function count({ batch: { memory } }: Run, lines: number, sent: number): void {
  if (memory === undefined) return;
  memory.used.lines += lines;
  memory.used.known += lines - sent;
}

async function recordRecall(run: Run, item: BatchItem, recall: Recall): Promise<void> {
  await run.journal.add(recallRecord(item, recall));
  run.recalled.recorded.set(recallKey(item), recall);
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

async function runJobs(merged: MergedRun): Promise<RunOutcome['state']> {
  const { run, item, input, known, plain, masked, jobs } = merged;
  await recordFirstFacts(run, item, input.sha256);
  const sent = partsOf(merged, []);
  const folder = partsFolder(run, item, sent.made);
  const outcomes: RunOutcome[] = [];
  const answers: (string | null)[] = plain.map(() => null);
  if (plain.length > 0) {
    const first = await runMergedPart(merged, folder, sent, 0);
    if (first.state.phase !== 'done') return stateOf(first, sent, jobs);
    outcomes.push(first);
    const read = await readTexts(masked?.lines ?? plain, first);
    const { texts, lost: without } = restoreTerms(read, masked?.hidden ?? []);
    const lost = plain.filter((_, at) => masked !== null && (texts[at] === null || without.has(at)));
    for (const [at, text] of texts.entries()) answers[at] = text;
    if (lost.length > 0) {
      const parts = partsOf(merged, lost);
      const again = await runMergedPart(merged, folder, parts, 1);
      if (again.state.phase !== 'done') return stateOf(again, parts, jobs);
      outcomes.push(again);
      const found = await readTexts(lost, again);
      for (const [at, line] of lost.entries()) answers[plain.indexOf(line)] = found[at] ?? null;
    }
  }
  const whole = { ...sent, items: sent.items.slice(0, outcomes.length) };
  const texts = mergeTexts(known, answers);
  const lines = input.lines.flatMap((line, at): SubtitleLine[] => {
    const text = texts[at] ?? null;
    return text === null ? [] : [{ ...line, text }];
  });
  const files = await joinMerged(run, item, whole, { outcomes, lines, folder });
  const made =
    outcomes.length === 0
      ? { credits: 0 }
      : { credits: creditsOf({ run, parts: whole }), provenance: provenanceOf({ run, parts: whole }) };
  return checkTranslation(run, item, {
    ...{ phase: 'done', jobId: jobs[0] ?? null, files, before: null },
    ...made,
  });
}

/** Each line from what is known of it, and the others from the answers, in order. */
export function mergeTexts(known: KnownTexts, answers: KnownTexts): (string | null)[] {
  let next = 0;
  return known.map((text) => text ?? answers[next++] ?? null);
}

function renumber(lines: Lines): Lines {
  return lines.map((line, at) => ({ ...line, index: at + 1 }));
}

/** The outcome of an item after a part that is not done. */
function stateOf(outcome: RunOutcome, { items }: SplitItem, jobs: readonly string[]): RunOutcome['state'] {
  if (items.length === 1) return outcome.state;
  return unfinishedOf([outcome], jobs[0] ?? null) ?? outcome.state;
}

/** The part that is sent, and with placeholders another one: the plain cues that are translated again. */
function partsOf({ item, input, plain, masked }: SentLines, again: Lines): SplitItem {
  const sent = masked?.lines ?? plain;
  const source = hash('sha256', JSON.stringify([input.sha256, sent]));
  const parts = masked === null ? [sent] : [sent, renumber(again)];
  const places = parts.map((lines) => ({ lines, offsetMs: 0 }));
  return { ...partsOfLines(item, places, source), sha256: input.sha256 };
}

/** Whether an earlier run has sent the lines that are not known, and they have not failed. */
export function isSent(
  item: BatchItem,
  { texts }: Recall,
  { terms, masksTerms = false }: Pick<Batch, 'terms' | 'masksTerms'>,
  intents: Intents,
): boolean {
  if (item.input.type !== 'lines') return false;
  const sent = linesToSend(item, item.input, texts, masksTerms ? terms : undefined);
  const [part] = partsOf(sent, []).items;
  const phase = part === undefined ? undefined : newestIntent(part.key, intents)?.outcome;
  if (phase?.phase === 'finished') return phase.record.state === 'succeeded';
  return phase !== undefined && phase.phase !== 'refused';
}

function linesToSend(
  item: BatchItem,
  input: SentLines['input'],
  known: KnownTexts,
  masking: Terms | undefined,
): SentLines {
  const plain = renumber(input.lines.filter((_, at) => known[at] === null));
  const masked = masking === undefined ? null : maskTerms(masking.in(item.targetLanguage ?? ''), plain);
  return { item, input, plain, masked };
}

/** Runs one of the parts into the private folder, and notes its job. */
async function runMergedPart(
  { run, order, jobs }: MergedRun,
  folder: string,
  parts: SplitItem,
  place: 0 | 1,
): Promise<RunOutcome> {
  const outcome = await runPart(run, parts, place, { folder, order });
  if (outcome.state.jobId !== null) jobs.push(outcome.state.jobId);
  return outcome;
}

/** The translated text of each line; null for one that has none. */
async function readTexts(lines: Lines, { state }: RunOutcome): Promise<(string | null)[]> {
  const path = state.phase === 'done' ? state.files[0]?.path : undefined;
  if (path === undefined) return lines.map(() => null);
  return alignTexts(lines, await readResultLines(path));
}

interface MergedLines {
  readonly outcomes: readonly RunOutcome[];
  readonly lines: Lines;
  readonly folder: string;
}

/** Names and records the merged lines as results of parts are. */
function joinMerged(run: Run, item: BatchItem, parts: SplitItem, { outcomes, lines, folder }: MergedLines) {
  const results = outcomes.flatMap(({ state }) =>
    state.phase === 'done' ? [{ jobId: state.jobId ?? '', files: state.files }] : [],
  );
  const preparation: Run['batch']['preparation'] = {
    ...run.batch.preparation,
    async join(_task, work) {
      const path = join(work.folder, 'subtitle.srt');
      await writeFile(path, formatSrt(lines));
      return [{ label: 'subtitle', path, notes: [] }];
    },
  };
  return joinResults({ ...run, batch: { ...run.batch, preparation } }, item, parts, results, folder);
}
