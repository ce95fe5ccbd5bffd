/** A plan on stdout, for --dry-run. */

import type { Forecast, ItemForecast } from '../../batch/plan/dry-run.ts';
import type { Context, TableHead } from '../../context/context.ts';
import { showPath } from '../../context/format.ts';
import { formatBytes } from '../../errors/amounts.ts';
import { describeUnits } from '../../protocol/metering.ts';

/** Writes it in the chosen form; in the form for people the sum goes to stderr. */
export async function printPlan(context: Context, forecast: Forecast): Promise<void> {
  const { items, ...sum } = forecast;
  switch (context.output) {
    case 'json':
      context.print(JSON.stringify(forecast, null, 2));
      return;
    case 'ndjson':
      for (const item of items) context.print(JSON.stringify({ type: 'item', ...item }));
      context.print(JSON.stringify({ type: 'summary', ...sum }));
      return;
    case 'plain':
      for (const item of items) context.print(rowOf(item).join('\t'));
      return;
    case 'id':
      for (const { job_id: id } of items) if (id !== null) context.print(id);
      return;
    case 'table':
      if (items.length > 0) {
        const shown = items.map((item) => ({
          ...item,
          results: item.results?.map((path) => showPath(path, context.io.cwd)) ?? null,
        }));
        context.print(await context.terminal.table(HEAD, shown.map(rowOf)));
      }
      for (const line of describeForecast(forecast)) context.terminal.note(line);
  }
}

const HEAD: readonly TableHead[] = [
  { title: 'INPUT', shrinks: 1, least: 20 },
  'LANGUAGE',
  'STATUS',
  'UNITS',
  'CREDITS',
  { title: 'RESULT', shrinks: 2 },
];

function rowOf(item: ItemForecast): string[] {
  return [
    item.input,
    item.target_language ?? '-',
    describeStatus(item),
    item.quantity === null || item.unit === null ? 'unknown' : describeUnits(item.quantity, item.unit),
    item.credits === null ? 'unknown' : String(item.credits),
    item.problem === null ? (item.results?.join(', ') ?? 'named when it is done') : '-',
  ];
}

/** `new, remuxed, 3 parts` */
function describeStatus({ status, conversion, parts }: ItemForecast): string {
  const isDue = status === 'new' || status === 'continue';
  const more = [...(conversion === null ? [] : [conversion]), ...(parts > 1 ? [`${parts} parts`] : [])];
  return [status, ...(isDue ? more : [])].join(', ');
}

/** The sum in sentences. */
export function describeForecast(forecast: Forecast): readonly string[] {
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
    [forecast.not_usable, 'not started (their file cannot be used)'],
  ] as const;
  return [
    `New jobs: ${[String(jobs), ...sent, ...units, ...unknown].join(', ')}.`,
    ...others.flatMap(([count, what]) => (count === 0 ? [] : [`Jobs ${what}: ${count}.`])),
    describeCost(credits, balance),
    'Nothing was sent.',
  ];
}

function describeCost(credits: number | null, balance: number | null): string {
  const cost =
    credits === null ? 'Cost: not known before the first job tells the price.' : `Cost: ${credits} credits.`;
  if (balance === null) return cost;
  const lack = credits !== null && credits > balance ? `, ${credits - balance} too few` : '';
  return `${cost} Available: ${balance}${lack}.`;
}
