/** The jobs of a page out of what the journal says of a batch. */
import { resolve } from 'node:path';
import { ERROR_CODES } from '../../protocol/error-codes.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS, type ResultPart } from '../../protocol/kinds.ts';
import type { ItemFacts } from '../plan/facts.ts';
import type { BatchFacts } from './batch-facts.ts';
import { type ItemReport, type ReportError, type ReportState, readItemKey } from './item-report.ts';
import type { EntryState, ReportFailure } from './page-facts.ts';
import type { PageJob, ResultFile } from './page-source.ts';

/** What a state means to a reader of the page, and what is to be waited for. */
const STATES: Readonly<
  Record<ReportState, { readonly state: EntryState; readonly waitsFor: string | null }>
> = {
  done: { state: 'done', waitsFor: null },
  undelivered: { state: 'unfinished', waitsFor: 'result not fetched yet' },
  running: { state: 'unfinished', waitsFor: 'still running' },
  unanswered: { state: 'unfinished', waitsFor: 'no answer to the request yet' },
  waiting: { state: 'unfinished', waitsFor: 'not begun' },
  refused: { state: 'failed', waitsFor: null },
  failed: { state: 'failed', waitsFor: null },
  cancelled: { state: 'failed', waitsFor: null },
  expired: { state: 'failed', waitsFor: null },
};

/**
 * @param items what the journal keeps of each item beside its calls, by key
 * @param folder the folder of the batch, absolute: files are named from there
 */
export function pageJobs(
  facts: BatchFacts,
  items: ReadonlyMap<string, ItemFacts>,
  folder: string,
): PageJob[] {
  return facts.items.map((item) => pageJob(item, items.get(item.key), folder));
}

function pageJob(item: ItemReport, facts: ItemFacts | undefined, folder: string): PageJob {
  const { state, waitsFor } = STATES[item.state];
  const { client_reference: reference, ...fields } = facts?.fields ?? {};
  return {
    kind: item.kind,
    state,
    job_id: item.job_id,
    request_ids: item.error?.request_id == null ? [] : [item.error.request_id],
    client_reference: typeof reference === 'string' ? reference : null,
    options: plainOptions(fields),
    credits: item.credits,
    created_at: item.created_at,
    finished_at: item.finished_at,
    failure: item.error === null ? null : describeFailure(item.error),
    waits_for: waitsFor,
    input_name: readItemKey(item.key)?.name ?? item.label,
    input_path: facts?.path ?? null,
    target_language: item.target_language,
    files: nameFiles(item, folder),
  };
}

/** The page shows the language elsewhere, and an address for callbacks is nobody's business. */
const SHOWN_ELSEWHERE = new Set(['target_language', 'callback_url']);

function plainOptions(fields: Readonly<Record<string, unknown>>): PageJob['options'] {
  const options: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(fields)) {
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    if (isPlain && !SHOWN_ELSEWHERE.has(name)) options[name] = value;
  }
  return options;
}

function describeFailure({ code, message, retryable }: ReportError): ReportFailure {
  const known = Object.entries(ERROR_CODES).find(([name]) => name === code)?.[1];
  return { code, message, retryable, advice: known?.advice ?? null };
}

/** The journal keeps files in the order in which the kind names its assets. */
function nameFiles({ kind, files }: ItemReport, folder: string): ResultFile[] {
  const assets = assetNames(kind);
  return files.flatMap(({ path, bytes, sha256 }, place) => {
    const asset = assets[place];
    return asset === undefined ? [] : [{ asset, path: resolve(folder, path), bytes, sha256 }];
  });
}

function assetNames(kind: JobKind): string[] {
  const parts: [string, ResultPart][] = Object.entries(KINDS[kind].result);
  return parts.filter(([, part]) => part.type === 'asset').map(([name]) => name);
}
