/** The state of a folder of results according to its journal, without asking the service. Pure. */

import type { CreditTotals } from '../bill.ts';
import { byName } from '../inputs/candidate.ts';
import { type Attempt, type Attempts, billOf } from '../records/attempts.ts';
import type { ReadRecords } from '../records/batch-records.ts';
import type { BatchCommand } from '../records/command-record.ts';
import { isJoinedKey, readItemKeys } from '../records/item-key.ts';
import { findDoubt } from '../records/lost-jobs.ts';
import { createBudget } from '../run/budget.ts';
import {
  gatherParts,
  readStageReports,
  resolveStagedResults,
  withoutTriedSamples,
} from './combined-reports.ts';
import { type ItemCosts, sumCosts } from './costs.ts';
import {
  ITEM_STATES,
  type ItemReport,
  type ReportState,
  reportItem,
  withMissingCues,
} from './item-report.ts';

export interface BatchFacts {
  /** In the order of the batch. */
  readonly items: readonly ItemReport[];
  readonly counts: Readonly<Record<ReportState, number>>;
  /** Credits of all items; null while there is no job. */
  readonly credits: CreditTotals | null;
  /** Requests without an answer: sending them again with the same key is not charged twice. */
  readonly open_questions: readonly string[];
  /** When the first result that was not downloaded expires, RFC 3339. */
  readonly next_deadline: string | null;
  /** The commands that were run, each once. */
  readonly commands: readonly BatchCommand[];
  /** Damaged places of the journal, until its jobs were compared with those of the service. */
  readonly damaged: number;
  /** Labels of items that failed or were never sent, and that no command names any more, by name. They are not among the items. */
  readonly unnamed: readonly string[];
  /** The shards that have a journal; empty for a batch without shards. */
  readonly shards: readonly ShardReport[];
  /** The shards that have none, as --shard takes them. */
  readonly missing_shards: readonly string[];
}

/** One shard in one folder. */
export interface ShardReport {
  /** As --shard takes it. */
  readonly shard: string;
  readonly folder: string;
  /** Where it ran last; null if its record does not name it. */
  readonly host: string | null;
  readonly items: number;
  readonly done: number;
  readonly failed: number;
  readonly open: number;
}

/**
 * The reports of all items, with samples of finished videos.
 * @param folder of the results, absolute
 * @param now milliseconds since 1970
 */
export function reportItems(records: ReadRecords, folder: string, now: number): readonly ItemReport[] {
  const { attempts, facts, commands, provenances, checked } = records;
  const { unusable, usable } = checked;
  const stages = readStageReports(records, folder);
  const reports = [...readItemKeys(records)].flatMap((key): ItemReport[] => {
    const own = intentsOf(key, attempts);
    // A file that a run in stages could not use before: its jobs belong to other items.
    if (usable.has(key) && own.length === 0 && !facts.has(key) && !stages.keys.includes(key)) return [];
    const known = { facts: facts.get(key), unusable: unusable.get(key) };
    const provenance = provenances.get(own.at(-1)?.key ?? '');
    const item = { key, ...known, attempts: own, costs: sumBills(own), provenance };
    const report = reportItem(item, now);
    return report === null ? [] : [stages.apply(report)];
  });
  return resolveStagedResults(gatherParts(reports).map(withMissingCues), commands);
}

/** @param folder and @param now see `reportItems` */
export function readBatchFacts(records: ReadRecords, folder: string, now: number): BatchFacts {
  const { commands } = records;
  const all = withoutTriedSamples(reportItems(records, folder, now));
  const named = new Set(commands.flatMap((command) => command.items));
  // After damage, the record of their command may be lost.
  const isKnown = commands.length > 0 && records.damage.length + records.damages.length === 0;
  const isLeft = ({ key, state }: ItemReport) => isKnown && !named.has(key) && WITHOUT_RESULT.includes(state);
  const items = all.filter((item) => !isLeft(item));
  return {
    items,
    unnamed: all
      .filter(isLeft)
      .map(({ label }) => label)
      .toSorted(byName),
    counts: countStates(items),
    credits: creditsOf(items),
    open_questions: items.filter(({ state }) => state === 'unanswered').map(({ label }) => label),
    next_deadline: soonest(items.flatMap(({ deadline }) => deadline ?? [])),
    commands,
    damaged: countDamage(records),
    // Rows are lost whole, and then the service is asked: no job is left without its item.
    shards: [],
    missing_shards: [],
  };
}

/** Damaged places of a journal, until its jobs were compared with those of the service. */
export function countDamage(records: ReadRecords): number {
  return records.damage.length + (findDoubt(records, null)?.places.length ?? 0);
}

/** The facts of several folders, in their order. */
export function combineFacts(all: readonly BatchFacts[]): BatchFacts {
  const items = all.flatMap((each) => each.items);
  return {
    items,
    counts: countStates(items),
    credits: creditsOf(items),
    open_questions: all.flatMap((each) => each.open_questions),
    next_deadline: soonest(all.flatMap((each) => each.next_deadline ?? [])),
    commands: all.flatMap((each) => each.commands),
    damaged: all.reduce((sum, { damaged }) => sum + damaged, 0),
    unnamed: all.flatMap((each) => each.unnamed),
    shards: [],
    missing_shards: [],
  };
}

/** The sums that the report has as JSON. */
function creditsOf(items: readonly ItemReport[]): CreditTotals | null {
  const costs = sumCosts(items);
  return costs && { reserved: costs.reserved, charged: costs.charged, unknown: costs.unknown };
}

function intentsOf(item: string, { byItem, byKey }: Attempts): readonly Attempt[] {
  return (byItem.get(item) ?? []).flatMap((key) => byKey.get(key) ?? []);
}

/** The cost of all jobs for an item. */
function sumBills(attempts: readonly Attempt[]): Omit<ItemCosts, 'job_id'> {
  const budget = createBudget(null);
  let count = 0;
  for (const attempt of attempts) {
    // The jobs that it was joined of are those of its parts; if all lines were remembered, there are none.
    const { key, kind, job_id } = attempt;
    const bill = billOf(attempt);
    if (bill === null && job_id === null) continue;
    count += 1;
    if (!isJoinedKey(key)) budget.bill(key, kind, bill);
  }
  const { reserved, charged, unknown, units } = budget.totals();
  const isFree = count > 0 && attempts.every(({ key, is_free }) => isJoinedKey(key) || is_free);
  return {
    credits: count === 0 || unknown > 0 ? null : { reserved, charged },
    is_free: isFree || undefined,
    units: units.length === 0 ? undefined : units,
  };
}

export function countStates(items: readonly ItemReport[]): Record<ReportState, number> {
  const count = (wanted: ReportState) => items.filter(({ state }) => state === wanted).length;
  // The type of Object.fromEntries does not know that all states are present.
  return Object.fromEntries(ITEM_STATES.map((state) => [state, count(state)])) as Record<ReportState, number>;
}

function soonest(instants: readonly string[]): string | null {
  return instants.toSorted((left, right) => Date.parse(left) - Date.parse(right))[0] ?? null;
}

/** The head of a report in every format. */
export interface ReportHead {
  /** The folders of results, absolute; at least one. */
  readonly folders: readonly string[];
  /** When the report was made, RFC 3339. */
  readonly madeAt: string;
  /** Notices that the licences of the models demand that made the items; not set if it was not looked up. */
  readonly attributions?: readonly string[];
}

/** States in which an item needs the user. */
export const FAILED_STATES = ['failed', 'refused', 'cancelled', 'expired'] as const;
/** States in which an item is not finished. */
export const OPEN_STATES = ['undelivered', 'running', 'unanswered', 'waiting'] as const;

/** States of an item that has no result, and of which none is to come without another command. */
const WITHOUT_RESULT: readonly ReportState[] = [...FAILED_STATES, 'waiting'];

export function countFailed({ counts }: Pick<BatchFacts, 'counts'>): number {
  return FAILED_STATES.reduce((sum, state) => sum + counts[state], 0);
}

export function countOpen({ counts }: Pick<BatchFacts, 'counts'>): number {
  return OPEN_STATES.reduce((sum, state) => sum + counts[state], 0);
}

/** The report as a JSON document; commands as the user typed them. */
export function reportDocument(
  { commands, ...facts }: BatchFacts,
  { folders, madeAt, attributions }: ReportHead,
): object {
  return {
    object: 'batch_report',
    ...(folders.length === 1 ? { folder: folders[0] } : { folders }),
    made_at: madeAt,
    ...(attributions === undefined ? {} : { attributions }),
    ...facts,
    commands: commands.map(publicCommand),
  };
}

function publicCommand({ at, argv, cwd, profile, host }: BatchCommand): object {
  return { at, argv, cwd, profile, ...(host === undefined ? {} : { host }) };
}
