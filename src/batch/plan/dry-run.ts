/** Forecast of the jobs and costs of a plan, for --dry-run. */
import type { JobKind } from '../../protocol/kind-names.ts';
import { roundCredits } from '../../protocol/metering.ts';
import type { Units } from '../bill.ts';
import { bytesToSend, countParts, isCopied, type JobInput } from '../input.ts';
import { isMadeHere, type SpeakerJob, speakersOf } from '../inputs/items.ts';
import type { LineCounts, PlannedItem } from './batch-plan.ts';
import type { Decision } from './decision.ts';
import { countAgain, type Redub } from './redub.ts';
import { decisionFailure, isRefused } from './refusal.ts';

export interface Purse {
  /** Credits for a unit of the kind; null if unknown. */
  readonly price: (kind: JobKind) => number | null;
  /** Credits that are available; null without a connection. */
  readonly balance: number | null;
}

/** `new` costs; `continue` has been paid or is about to be; the others cost nothing. */
type Prospect = 'new' | 'continue' | 'done before' | 'failed before' | 'expired' | 'not usable';

export interface ItemForecast {
  readonly input: string;
  readonly target_language: string | null;
  readonly status: Prospect;
  readonly job_id: string | null;
  /** How the file is prepared before it is sent, or what is done instead of sending it; null if it is sent as it is. */
  readonly conversion: 'remuxed' | 'transcoded' | 'still' | 'copied' | 'put together' | null;
  /** The still MP4 that sound is put into, about; missing for everything else. */
  readonly still?: { readonly bytes: number; readonly seconds: number };
  /** Number of jobs of the item: several if it is cut into parts. */
  readonly parts: number;
  /** The same jobs with --voices, one for each speaker; missing without. */
  readonly speakers?: readonly SpeakerJob[] | undefined;
  readonly unit: Units['unit'] | null;
  /** Null if only the service can measure it. */
  readonly quantity: number | null;
  /** Cues that are dubbed again in an existing dub, of how many; missing for everything else. */
  readonly redubbed?: { readonly cues: number; readonly of: number };
  /** Credits that it will still cost. */
  readonly credits: number | null;
  /** Null if names depend on what the job finds out. */
  readonly results: readonly string[] | null;
  /** Why it cannot be used, and how to fix it; null if it can. */
  readonly problem: string | null;
  /** Where its lines come from; missing where no memory is used. */
  readonly memory?: LineCounts;
}

export interface Forecast {
  readonly object: 'plan';
  readonly kind: JobKind;
  /** New jobs; an item that is cut into parts has several. */
  readonly jobs: number;
  readonly continued: number;
  readonly done_before: number;
  readonly failed_before: number;
  readonly expired: number;
  /** Items that would fail on this machine. */
  readonly not_usable: number;
  /** Files that would be sent, each once for all its languages, including those that the service still has. */
  readonly uploads: number;
  readonly upload_bytes: number;
  /** Units of the new jobs as far as they are known, and the number of jobs for which they are not. */
  readonly quantity: number;
  readonly unmeasured: number;
  /** Total cost of all new jobs; null if a price or a size is unknown. */
  readonly credits: number | null;
  readonly balance: number | null;
  /** The sum of the items with lines; missing where no memory is used. */
  readonly memory?: LineCounts;
  readonly items: readonly ItemForecast[];
}

export function forecastPlan(kind: JobKind, planned: readonly PlannedItem[], purse: Purse): Forecast {
  const price = purse.price(kind);
  const items = planned.map((each) => forecastItem(each, price));
  const fresh = items.filter(({ status }) => status === 'new');
  const costs = fresh.map(({ credits }) => credits);
  const count = (status: Prospect) => items.filter((item) => item.status === status).length;
  const uploads = [...uploadsOf(planned).values()];
  return {
    object: 'plan',
    kind,
    jobs: fresh.reduce((sum, { parts }) => sum + parts, 0),
    continued: count('continue'),
    done_before: count('done before'),
    failed_before: count('failed before'),
    expired: count('expired'),
    not_usable: count('not usable'),
    uploads: uploads.reduce((sum, { parts }) => sum + parts, 0),
    upload_bytes: uploads.reduce((sum, { bytes }) => sum + bytes, 0),
    quantity: fresh.reduce((sum, { quantity }) => sum + (quantity ?? 0), 0),
    unmeasured: fresh.filter(({ quantity }) => quantity === null).length,
    credits: costs.includes(null)
      ? null
      : roundCredits(costs.reduce<number>((sum, each) => sum + (each ?? 0), 0)),
    balance: purse.balance,
    ...sumMemory(items.flatMap(({ memory }) => memory ?? [])),
    items,
  };
}

function sumMemory(counts: readonly LineCounts[]): Pick<Forecast, 'memory'> {
  if (counts.length === 0) return {};
  const sum = (name: keyof LineCounts) => counts.reduce((total, each) => total + each[name], 0);
  return { memory: { lines: sum('lines'), from_memory: sum('from_memory'), to_pay: sum('to_pay') } };
}

function forecastItem({ item, decision, paths, memory }: PlannedItem, price: number | null): ItemForecast {
  const status = prospectOf(decision);
  const redub = decision.step === 'new' ? decision.redub : undefined;
  const due = dueParts(decision);
  const units = due === null ? (redub?.units ?? item.units) : due.units;
  const quantity = memory?.to_pay ?? units?.quantity ?? null;
  const known = price === null || quantity === null ? null : roundCredits(price * quantity);
  const cost = quantity === 0 ? 0 : known;
  const speakers = item.units === null ? [] : speakersOf(item);
  return {
    input: item.input.label,
    target_language: item.targetLanguage,
    status,
    job_id: jobIdOf(decision),
    conversion: item.gathers === undefined ? conversionOf(item.input) : 'put together',
    ...describeStill(item.input),
    parts: due?.jobs ?? countNewJobs({ item, memory }, redub),
    ...(speakers.length > 0 ? { speakers } : {}),
    unit: item.units?.unit ?? null,
    quantity,
    ...(redub === undefined ? {} : { redubbed: { cues: countAgain(redub), of: redub.total } }),
    credits: status === 'new' ? cost : 0,
    results: isRefused(decision) ? [] : paths,
    problem: isRefused(decision) ? decisionFailure(decision).message : null,
    ...(memory === undefined ? {} : { memory }),
  };
}

function describeStill(input: JobInput): Pick<ItemForecast, 'still'> {
  if (input.type !== 'file' || input.preparation?.conversion !== 'still') return {};
  return { still: { bytes: bytesToSend(input), seconds: input.seconds ?? 0 } };
}

function conversionOf(input: JobInput): ItemForecast['conversion'] {
  if (isCopied(input)) return 'copied';
  return input.type === 'file' ? (input.preparation?.conversion ?? null) : null;
}

function countNewJobs(
  { item, memory }: Pick<PlannedItem, 'item' | 'memory'>,
  redub: Redub | undefined,
): number {
  if (item.gathers !== undefined) return 0;
  // Cues that were only removed need no job.
  if (redub !== undefined) return Math.min(1, redub.lines.length);
  if (memory !== undefined && memory.from_memory > 0) return Math.min(1, memory.to_pay);
  return countParts(item.input);
}

function prospectOf(decision: Decision): Prospect {
  switch (decision.step) {
    case 'new':
      return decision.redub?.isBegun === true ? 'continue' : 'new';
    case 'continue':
      return dueParts(decision) === null ? 'continue' : 'new';
    case 'done':
      return 'done before';
    case 'failed':
      return 'failed before';
    case 'expired':
      return 'expired';
    case 'changed':
    case 'edited':
    case 'unusable':
      return 'not usable';
  }
}

/** The parts of an item that has begun which need a new job; null if there are none. */
function dueParts(decision: Decision) {
  if (decision.step !== 'continue' || decision.next.step !== 'parts') return null;
  const { due } = decision.next;
  return due.jobs === 0 ? null : due;
}

function jobIdOf(decision: Decision): string | null {
  if (decision.step === 'continue') return 'jobId' in decision.next ? decision.next.jobId : null;
  return 'jobId' in decision ? decision.jobId : null;
}

interface PlannedUpload {
  /** Size of the original file: conversion may make it smaller or larger. */
  readonly bytes: number;
  readonly parts: number;
}

/** By path: files of new items, and of items whose request may not have arrived. */
function uploadsOf(planned: readonly PlannedItem[]): ReadonlyMap<string, PlannedUpload> {
  const due = planned.flatMap(({ item, decision }): [string, PlannedUpload][] => {
    const { input } = item;
    const { step } = decision;
    const isSent =
      step === 'new' || (step === 'continue' && ['submit', 'parts'].includes(decision.next.step));
    if (input.type !== 'file' || isMadeHere(item) || !isSent) return [];
    return [[input.path, { bytes: bytesToSend(input), parts: countParts(input) }]];
  });
  return new Map(due);
}
