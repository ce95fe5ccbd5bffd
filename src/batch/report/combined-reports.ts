/** Reports of items that were made in parts, and of videos exported on this machine. Pure. */

import { resolve } from 'node:path';
import { NOT_USABLE } from '../input.ts';
import { isStageKey } from '../inputs/stage-items.ts';
import { combineJobs, combineParts } from '../item-provenance.ts';
import type { BatchRecords } from '../records/batch-records.ts';
import type { BatchCommand } from '../records/command-record.ts';
import { isSampleKey, nameOfKey, readPartKey, wholeName } from '../records/item-key.ts';
import type { FinishedVideo } from '../records/stage-records.ts';
import { type ItemCosts, joinCosts } from './costs.ts';
import type { ItemReport, ReportState } from './item-report.ts';

interface PartReport {
  readonly report: ItemReport;
  readonly number: number;
  readonly count: number;
  /** The same for all parts that were cut together. */
  readonly made: string;
}

/** Combines the reports of parts into those of their items, in the order of the items. */
export function gatherParts(reports: readonly ItemReport[]): readonly ItemReport[] {
  const parts = new Map<string, PartReport[]>();
  const wholes = new Map<string, ItemReport>();
  for (const report of reports) {
    const read = readPartKey(report.key);
    if (read === null) {
      wholes.set(report.key, report);
      continue;
    }
    const { part: number, of: count, made } = read.name;
    parts.set(read.item, [...(parts.get(read.item) ?? []), { report, number, count, made }]);
    // The record of the whole item may be lost.
    if (!wholes.has(read.item))
      wholes.set(read.item, {
        ...report,
        key: read.item,
        state: 'waiting',
        job_id: null,
        credits: null,
        files: [],
      });
  }
  return [...wholes.values()].map((whole) => {
    const own = parts.get(whole.key);
    return own === undefined ? whole : combine(whole, own);
  });
}

/** The state of a part that decides that of the item: first failures, then the least advanced state. */
const DECISIVE: readonly ReportState[] = [
  'failed',
  'expired',
  'cancelled',
  'refused',
  'unanswered',
  'running',
  'undelivered',
];

function combine(whole: ItemReport, all: readonly PartReport[]): ItemReport {
  const parts = newestParts(all);
  const reports = reportsOf(parts);
  // Terms and cues are checked in the joined subtitles, and everything else is known of the parts.
  const isJoined = whole.state === 'done' && msOf(whole.asked_at) >= msOf(last(reports.map(askedAt)));
  const { lost_terms = [], missing_cues = [] } = whole.provenance ?? {};
  const checked = { engines: [], cues: [], lost_terms, missing_cues };
  const ofParts = combineParts(reports.map((report) => report.provenance ?? null));
  // The record of a dub that was partly made again is about all its cues.
  const isKnown = isJoined && whole.provenance !== undefined && whole.provenance.engines.length > 0;
  const provenance = isKnown ? whole.provenance : combineJobs([ofParts, checked]);
  const costs = costOf(whole, all);
  const common = {
    ...whole,
    ...(provenance == null ? {} : { provenance }),
    ...costs,
    attempts: all.reduce((sum, { report }) => sum + report.attempts, 0),
    asked_at: first(reports.map(({ asked_at }) => asked_at)),
    created_at: first(reports.map(({ created_at }) => created_at)),
    finished_at: last(reports.map(({ finished_at }) => finished_at)),
  };
  if (whole.error?.code === NOT_USABLE) return { ...whole, ...costs, attempts: common.attempts };
  if (isJoined) return common;
  const decisive = DECISIVE.flatMap((state) => parts.find(({ report }) => report.state === state) ?? [])[0];
  if (decisive === undefined) return { ...common, ...unfinished(parts), files: [], downloaded_at: null };
  const { report, number, count } = decisive;
  const { state, job_id, error, deadline } = report;
  const named =
    error === null || count === 1
      ? error
      : { ...error, message: `part ${number} of ${count}: ${error.message}` };
  return { ...common, state, job_id, error: named, deadline, files: [], downloaded_at: null };
}

function reportsOf(parts: readonly PartReport[]): readonly ItemReport[] {
  return parts.map(({ report }) => report);
}

/** The cost of all parts ever made, and of earlier jobs for the whole. */
function costOf(whole: ItemReport, parts: readonly PartReport[]): Omit<ItemCosts, 'job_id'> {
  return joinCosts([...(whole.credits === null ? [] : [whole]), ...reportsOf(parts)]);
}

/** The state if all parts with jobs are done: either parts are missing, or the results are not joined yet. */
function unfinished(parts: readonly PartReport[]): Pick<ItemReport, 'state' | 'job_id' | 'error'> {
  const isWhole = parts.length === parts[0]?.count;
  return { state: isWhole ? 'undelivered' : 'running', job_id: parts[0]?.report.job_id ?? null, error: null };
}

/** The parts of the last cut, in order. */
function newestParts(parts: readonly PartReport[]): readonly PartReport[] {
  const newest = parts.reduce((best, each) =>
    msOf(each.report.asked_at) >= msOf(best.report.asked_at) ? each : best,
  );
  return parts
    .filter(({ made }) => made === newest.made)
    .toSorted((left, right) => left.number - right.number);
}

const askedAt = ({ asked_at }: ItemReport) => asked_at;

function msOf(instant: string | null): number {
  return instant === null ? 0 : Date.parse(instant);
}

function inOrder(instants: readonly (string | null)[]): string[] {
  return instants.flatMap((instant) => instant ?? []).toSorted((left, right) => msOf(left) - msOf(right));
}

function first(instants: readonly (string | null)[]): string | null {
  return inOrder(instants)[0] ?? null;
}

function last(instants: readonly (string | null)[]): string | null {
  return inOrder(instants).at(-1) ?? null;
}

/** States in which a job is paid, or about to be, and its result is not here. */
const BEGUN: readonly ReportState[] = ['unanswered', 'running', 'undelivered'];

/** Leaves out the samples of videos that are done. Their costs are counted with those. */
export function withoutTriedSamples(items: readonly ItemReport[]): readonly ItemReport[] {
  const wholes = items.filter(({ key, state }) => state === 'done' && !isSampleKey(key) && !isStageKey(key));
  if (wholes.length === 0) return items;
  const byName = Map.groupBy(wholes, ({ key }) => nameOfKey(key));
  const samples = new Map<ItemReport, ItemReport>();
  for (const item of items) {
    const { key, state, target_language: language } = item;
    if (!isSampleKey(key) || BEGUN.includes(state)) continue;
    const kind = isStageKey(key) ? 'auto_localization' : item.kind;
    const whole = byName
      .get(wholeName(nameOfKey(key) ?? ''))
      ?.find((each) => each.kind === kind && (language === null || each.target_language === language));
    if (whole !== undefined) samples.set(item, whole);
  }
  return items.flatMap((item) => {
    if (samples.has(item)) return [];
    const own = [...samples].flatMap(([sample, whole]) => (whole === item ? [sample] : []));
    return [own.length === 0 ? item : { ...item, ...joinCosts([item, ...own]) }];
  });
}

interface StageReports {
  /** Keys of all items whose videos were ever exported. */
  readonly keys: readonly string[];
  /** Changes the report of an item whose video was exported; returns others unchanged. */
  readonly apply: (report: ItemReport) => ItemReport;
}

/** @param folder of the results, absolute */
export function readStageReports(
  { stages: { finished }, begun }: Pick<BatchRecords, 'stages' | 'begun'>,
  folder: string,
): StageReports {
  const keys = [...finished.keys()];
  return {
    keys,
    apply: (report) => {
      const video = finished.get(report.key);
      if (video === undefined) return report;
      const madeMs = Date.parse(video.at);
      // A single job for the whole localization, or another export, has started since and decides the state.
      const sinceMs = Math.max(begun.get(report.key) ?? 0, msOf(report.asked_at));
      return sinceMs > madeMs ? report : asFinished(report, video, folder);
    },
  };
}

/**
 * Decides the state of results of a localization in stages that have no record of their own yet: jobs of earlier stages stand
 * for them, and once these are done, the rest is still to be made.
 */
export function resolveStagedResults(
  items: readonly ItemReport[],
  commands: readonly BatchCommand[],
): readonly ItemReport[] {
  const staged = new Set(commands.flatMap((command) => (command.partial === true ? command.items : [])));
  const stages = Map.groupBy(
    items.filter(({ key }) => isStageKey(key)),
    ({ key }) => nameOfKey(key),
  );
  return items.flatMap((item): ItemReport[] => {
    if (item.state !== 'waiting' || !staged.has(item.key)) return [item];
    const earlier = (stages.get(nameOfKey(item.key)) ?? []).filter((stage) => isEarlier(stage, item));
    if (earlier.some(({ state }) => state !== 'done')) return [];
    const isBegun = earlier.length > 0 && item.kind === 'auto_localization';
    return [isBegun ? { ...item, state: 'running' } : item];
  });
}

function isEarlier(stage: ItemReport, { key, kind, target_language: language }: ItemReport): boolean {
  if (stage.key === key || (kind !== 'auto_localization' && stage.kind !== 'subtitle_recognition'))
    return false;
  return stage.target_language === null || stage.target_language === language;
}

function asFinished(
  // An earlier job for the whole localization made another video.
  { provenance: _, ...report }: ItemReport,
  { at, path, size, sha256, lost_terms: lost = [] }: FinishedVideo,
  folder: string,
): ItemReport {
  const lost_terms = lost.map((loss) => ({ ...loss, file: resolve(folder, loss.file) }));
  return {
    ...report,
    ...(lost.length === 0 ? {} : { provenance: { engines: [], cues: [], lost_terms } }),
    state: 'done',
    // Its jobs are those of the stages.
    job_id: null,
    error: null,
    files: [{ asset: 'video', path: resolve(folder, path), bytes: size, sha256 }],
    created_at: null,
    finished_at: at,
    downloaded_at: null,
    deadline: null,
  };
}
