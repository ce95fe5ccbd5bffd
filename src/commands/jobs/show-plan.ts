/** --dry-run: what a job command would do, and what it would cost. Nothing is sent but a question for the credits. */

import { formatBytes } from '../../base/amounts.ts';
import { Failure, partialFailure } from '../../base/failure.ts';
import { freeBytes } from '../../base/folder.ts';
import { NOT_USABLE } from '../../batch/input.ts';
import type { Delivery } from '../../batch/inputs/delivery.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import { describeEncodings } from '../../batch/plan/describe-preparations.ts';
import { type Forecast, forecastPlan, type ItemForecast, type Purse } from '../../batch/plan/dry-run.ts';
import { decideBatch } from '../../batch/plan/plan.ts';
import { isRefused } from '../../batch/plan/refusal.ts';
import { writeShard } from '../../batch/records/shard.ts';
import type { RunOptions } from '../../batch/run/batch.ts';
import { openBudget } from '../../batch/run/budget.ts';
import { adviseOwnWays, endedBefore, summarizeFailure } from '../../batch/run/outcome.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { describeCredits, describeUnits } from '../../protocol/metering.ts';
import type { Prices } from '../../protocol/prices.ts';
import type { Connection } from '../context/connection.ts';
import type { Context, TableHead } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import type { Presentation } from '../context/output/presentation.ts';
import { type OpenCommand, withMemory } from './drive.ts';
import type { JobOptions } from './job-options.ts';
import { type CollectedJobs, checkSupport, noteShard } from './plan-jobs.ts';
import { describeLimit, forecastLimit, listNewJobs } from './plan-limit.ts';
import { collectCommand } from './run-jobs.ts';
import { noteWhole } from './sample.ts';
import { findPrices, spendableOf, stateOf } from './spending.ts';
import { countRemembered } from './use-memory.ts';

/** Longest wait for balance and prices; the plan is shown without them. */
const PATIENCE_MS = 5_000;

/** Prints the plan; returns the exit code 0. @throws Failure as the command itself would for what is known now */
export async function showPlan(
  kind: JobKind,
  context: Context,
  operands: readonly string[],
  options: JobOptions,
): Promise<number> {
  const { command, collected } = await collectCommand(kind, context, operands, options);
  return withMemory(command, false, (opened) => showItems(opened, collected));
}

async function showItems(opened: OpenCommand, collected: CollectedJobs): Promise<number> {
  const { kind, context, runOptions } = opened;
  const { recorded, delivery, all } = collected;
  const decided = await decideBatch(collected, recorded, opened.choices(), { freeBytes });
  for (const note of [...collected.notes, ...decided.notes]) context.terminal.note(note);
  noteShard(context, collected);
  noteProvenance(opened);
  const isUseless = decided.planned.every(({ decision }) => isRefused(decision));
  const { planned, purse, isFree } = isUseless
    ? { ...NOTHING_ASKED, planned: decided.planned }
    : await askService(opened, collected, decided.planned);
  // A remote service does not say what it does to pictures.
  if (isFree) for (const note of describeEncodings(decided.planned)) context.terminal.note(note);
  const forecast = forecastPlan(kind, planned, purse);
  const items = planned.map(({ item }) => item);
  const budget = openBudget({ ...runOptions, prices: purse.known }, items, recorded);
  const limit = forecastLimit(runOptions, budget, listNewJobs(forecast));
  const document = { ...forecast, ...shareOf(delivery, all.length), ...limit };
  const { items: rows, ...sum } = document;
  const shown = presentPlan(context.io.cwd, isFree, {
    document,
    lines: [...rows.map((item) => ({ type: 'item', ...item })), { type: 'summary', ...sum }],
    items: rows,
    head: HEAD,
    rows: (name) => rows.map((item) => rowOf(item, isFree, name)),
    notes: [...describeForecast(forecast, isFree), ...describeLimit(limit)],
  });
  await context.present.show(shown);
  noteWhole(context, planned);
  const failure = refusalsFailure(planned);
  if (failure !== null) throw failure;
  return 0;
}

/** Says what --provenance writes. */
export function noteProvenance({ options, context }: Pick<OpenCommand, 'options' | 'context'>): void {
  if (options.provenance === true)
    context.terminal.note(
      '{stem}.{lang}.provenance.json is written beside each result on this machine, free.',
    );
}

/** Asks for what only the service knows: which items it can make, the prices and the balance. */
async function askService(
  { kind, context, options, runOptions, connect }: OpenCommand,
  collected: CollectedJobs,
  planned: readonly PlannedItem[],
) {
  const { connection, memory } = await connect();
  const supported = await checkSupport(planned, connection.capabilities, context);
  const purse = await readPurse([kind], connection, context, runOptions);
  const remembered = await countRemembered(memory, options, { ...collected, planned: supported });
  return { planned: remembered, purse, isFree: connection.isFree };
}

/** The failure that the command would end with, as far as it is known before sending. */
export function refusalsFailure(planned: readonly PlannedItem[]): Failure | null {
  const outcomes = planned
    .filter(({ decision }) => isRefused(decision))
    .flatMap((each) => endedBefore(each) ?? []);
  const whole = summarizeFailure(outcomes);
  if (whole === null || outcomes.length === planned.length) return whole;
  const problems = outcomes.flatMap(({ item, state }) =>
    state.phase === 'failed' ? [{ pointer: item.input.label, failure: state.failure }] : [],
  );
  // The same problem is listed once for all languages of a file.
  const once = new Map(problems.map((each) => [`${each.pointer}\0${each.failure.message}`, each]));
  const own = adviseOwnWays(problems.map(({ failure }) => failure));
  const isAnyFile = problems.some(({ failure }) => failure.facts.code === NOT_USABLE);
  const files = isAnyFile
    ? ['Fix the files above, or run the command anyway: they fail without being sent.']
    : [];
  return partialFailure(
    NOT_USABLE,
    `${outcomes.length} of ${planned.length} items cannot be used; the others would run`,
    [...files, ...own].join(' ') || undefined,
    { errors: [...once.values()].map(({ pointer, failure }) => ({ pointer, detail: failure.message })) },
  );
}

/** With the prices that the run would have before its first job. */
export interface KnownPurse extends Purse {
  readonly known: Prices;
}

const NOTHING_ASKED = { purse: { balance: null, price: () => null, known: {} }, isFree: false };

/** Reads the balance, and the prices of these kinds; a note says if the service does not answer. */
export async function readPurse(
  kinds: readonly JobKind[],
  connection: Connection,
  context: Context,
  options: Pick<RunOptions, 'prices'>,
): Promise<KnownPurse> {
  const { credits } = connection.client;
  const stated = stateOf(connection, options);
  // The credits of the embedded service cost nothing: the plan shows those that it has counted.
  const shown = connection.isFree ? (options.prices ?? {}) : stated;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(PATIENCE_MS)]);
  try {
    const [balance, prices] = await Promise.all([
      credits.balance({ signal }),
      findPrices(kinds, shown, credits, signal),
    ]);
    const known = { ...prices, ...stated };
    return { balance: spendableOf(balance), price: (kind) => prices[kind] ?? null, known };
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason;
    const isExpected = error instanceof Failure || signal.aborted;
    if (!isExpected) throw error;
    const why = error instanceof Failure ? error.message : `no answer in ${PATIENCE_MS / 1000} s`;
    context.terminal.note(`The credits could not be read (${why}); the plan does not show them.`);
    return { balance: null, price: (kind) => shown[kind] ?? null, known: stated };
  }
}

/** Additional fields in the plan of a shard. */
export function shareOf({ shard }: Pick<Delivery, 'shard'>, total: number): object {
  return shard === undefined ? {} : { shard: writeShard(shard), items_of_all_shards: total };
}

/** A plan, as it is printed. */
interface PrintedPlan {
  readonly document: object;
  readonly lines: readonly object[];
  readonly items: readonly Pick<ItemForecast, 'job_id'>[];
  readonly head: readonly TableHead[];
  /** @param name how a path is written */
  readonly rows: (name: (path: string) => string) => readonly (readonly string[])[];
  /** The totals, below a table. */
  readonly notes: readonly string[];
}

/** @param isFree without the column of credits */
export function presentPlan(
  cwd: string,
  isFree: boolean,
  { document, lines, items, head, rows, notes }: PrintedPlan,
): Presentation {
  const isShown = (_: unknown, at: number) => !isFree || head[at] !== 'CREDITS';
  return {
    document: () => document,
    events: () => lines,
    rows: () => rows((path) => path),
    ids: () => items.flatMap(({ job_id: id }) => id ?? []),
    pages: () => {
      const cells = rows((path) => showPath(path, cwd)).map((row) => row.filter(isShown));
      return cells.length === 0 ? [] : [{ head: head.filter(isShown), rows: cells }];
    },
    notes: () => notes,
  };
}

const HEAD: readonly TableHead[] = [
  { title: 'INPUT', wraps: 20 },
  'LANGUAGE',
  'STATUS',
  'UNITS',
  'CREDITS',
  { title: 'RESULT', wraps: 20, drops: 1 },
];

function rowOf(item: ItemForecast, isFree: boolean, name: (path: string) => string): string[] {
  const results = item.results?.map(name).join(', ') ?? 'named when it is done';
  return [
    item.input,
    item.target_language ?? '-',
    describeStatus(item),
    ...costCells(item, isFree),
    item.problem === null ? results : '-',
  ];
}

/** The units and the credits of an item, the latter in a column whose title has their unit. */
export function costCells(
  { quantity, unit, credits }: Pick<ItemForecast, 'quantity' | 'unit' | 'credits'>,
  isFree: boolean,
): readonly string[] {
  const units = quantity === null || unit === null ? 'unknown' : describeUnits(quantity, unit);
  return [units, isFree ? 'none' : String(credits ?? 'unknown')];
}

/** `new, remuxed, 3 parts`; `new, 1 of 240 cues` */
function describeStatus(item: ItemForecast): string {
  const { status, conversion, parts } = item;
  const isDue = status === 'new' || status === 'continue';
  const more = [
    ...(conversion === null ? [] : [conversion === 'still' ? 'still picture' : conversion]),
    ...(parts > 1 ? [`${parts} parts`] : []),
    ...describeRedub(item),
  ];

  return [status, ...(isDue ? more : [])].join(', ');
}

/** `1 of 240 cues` for what is put into an existing dub. */
export function describeRedub({ redubbed }: Pick<ItemForecast, 'redubbed'>): readonly string[] {
  return redubbed === undefined ? [] : [`${redubbed.cues} of ${redubbed.of} cues`];
}

export const FREE = 'Cost: none (embedded service).';

/** The sum in sentences. */
export function describeForecast(forecast: Forecast, isFree = false): readonly string[] {
  const { jobs, uploads, upload_bytes: bytes, quantity, unmeasured, credits, balance } = forecast;
  const unit = forecast.items.find((item) => item.unit !== null)?.unit ?? null;
  const units = unit === null ? [] : [describeUnits(quantity, unit)];
  const unknown = unmeasured === 0 ? [] : [`${unmeasured} of unknown size`];
  const sent =
    uploads === 0 ? [] : [`${uploads} ${uploads === 1 ? 'upload' : 'uploads'} (${formatBytes(bytes)})`];
  const others = [
    [forecast.continued, 'continued'],
    [forecast.done_before, 'done before'],
    [forecast.failed_before, 'failed before (--retry-failed runs them again)'],
    [forecast.expired, 'expired by the clock of this machine (the service is asked; --fresh makes new jobs)'],
    [forecast.not_usable, 'not started (they cannot be used as they are)'],
  ] as const;
  return [
    ...describeMemory(forecast),
    `New jobs: ${[String(jobs), ...sent, ...units, ...unknown].join(', ')}.`,
    ...others.flatMap(([count, what]) => (count === 0 ? [] : [`Jobs ${what}: ${count}.`])),
    isFree ? FREE : describeCost(credits, balance),
    'Nothing was sent.',
  ];
}

/** `412 lines, 398 from memory, 14 to translate.`; nothing if nothing is remembered. */
export function describeMemory({ memory }: Pick<Forecast, 'memory'>): readonly string[] {
  if (memory === undefined || memory.from_memory === 0) return [];
  return [
    `${memory.lines} ${memory.lines === 1 ? 'line' : 'lines'}, ${memory.from_memory} from memory, ${memory.to_pay} to translate.`,
  ];
}

function describeCost(credits: number | null, balance: number | null): string {
  const cost =
    credits === null
      ? 'Cost: not known until the first job reports the price.'
      : `Cost: ${describeCredits(credits)}.`;
  if (balance === null) return cost;
  const lack = credits !== null && credits > balance ? `, ${describeCredits(credits - balance)} too few` : '';
  return `${cost} Available: ${describeCredits(balance)}${lack}.`;
}
