/** The jobs of the HTML report, from the journal. */

import { resolve } from 'node:path';
import { ERROR_CODES } from '../../protocol/error-codes.ts';
import { canonicalLanguage } from '../../protocol/language-tag.ts';
import type { ItemFacts } from '../plan/facts.ts';
import { isStageKey } from '../stages/items.ts';
import type { StageRecords, WrittenSubtitle } from '../stages/records.ts';
import type { BatchFacts } from './batch-facts.ts';
import { type ItemReport, type ReportError, type ReportState, readItemKey } from './item-report.ts';
import type { EntryState, ReportFailure } from './page-facts.ts';
import type { PageFile, PageJob, PageSubtitle } from './page-source.ts';

/** The state as shown on the page, and the reason if it is not finished. */
const STATES: Readonly<
  Record<ReportState, { readonly state: EntryState; readonly waitsFor: string | null }>
> = {
  done: { state: 'done', waitsFor: null },
  undelivered: { state: 'unfinished', waitsFor: 'result not fetched yet' },
  running: { state: 'unfinished', waitsFor: 'still running' },
  unanswered: { state: 'unfinished', waitsFor: 'no answer to the request yet' },
  waiting: { state: 'unfinished', waitsFor: 'not started' },
  refused: { state: 'failed', waitsFor: null },
  failed: { state: 'failed', waitsFor: null },
  cancelled: { state: 'failed', waitsFor: null },
  expired: { state: 'failed', waitsFor: null },
};

/** Records of the journal besides those of requests. */
interface JobSources {
  /** By key of the item. */
  readonly items: ReadonlyMap<string, ItemFacts>;
  readonly stages: StageRecords;
  /** Folder of the results, absolute. */
  readonly folder: string;
}

export function pageJobs(facts: Pick<BatchFacts, 'items'>, sources: JobSources): PageJob[] {
  return facts.items.map((item) => pageJob(item, sources));
}

function pageJob(item: ItemReport, { items, stages, folder }: JobSources): PageJob {
  const facts = items.get(item.key);
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
    engines: item.provenance?.engines ?? [],
    input_name: readItemKey(item.key)?.name ?? item.label,
    input_path: facts?.path ?? null,
    target_language: item.target_language,
    subtitles: stageSubtitles(item, stages, folder),
    files: namedFiles(item),
    cues: item.provenance?.cues ?? [],
  };
}

/** The page shows the language elsewhere, and callback addresses are private. */
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

/** The page shows only files that the kind defines. */
function namedFiles({ files }: ItemReport): PageFile[] {
  return files.flatMap(({ asset, ...file }) => (asset === null ? [] : [{ asset, ...file }]));
}

/**
 * The subtitles of an item of a localization in stages: they are beside the video, for users to edit, and not files of a job.
 * None for other items.
 * @param folder of the results, absolute
 */
function stageSubtitles(
  { key, kind, state, target_language: language }: ItemReport,
  { subtitles, finished }: StageRecords,
  folder: string,
): readonly PageSubtitle[] {
  const files = [...subtitles.values()];
  if (kind === 'auto_localization' && state === 'done') {
    const made = finished.get(key)?.newest;
    const spoken = {
      role: 'translated',
      language,
      path: made?.target ?? null,
      spoken: made?.target_lines ?? null,
    } as const;
    const heard = {
      role: 'original',
      language: languageOf(made?.source, files),
      path: made?.source ?? null,
      spoken: null,
    } as const;
    return [heard, spoken].flatMap(({ path, ...rest }) =>
      path === null ? [] : [{ ...rest, path: resolve(folder, path) }],
    );
  }
  const name = isStageKey(key) ? readItemKey(key)?.name : undefined;
  const role = kind === 'subtitle_recognition' ? 'source' : kind === 'subtitle_translation' ? 'target' : null;
  const own = files.filter((file) => file.video === name && file.role === role && speaks(file, language));
  return own.map((file) => ({
    role: file.role === 'source' ? 'original' : 'translated',
    language: known(file.language),
    path: resolve(folder, file.path),
    spoken: null,
  }));
}

function languageOf(path: string | null | undefined, files: readonly WrittenSubtitle[]): string | null {
  const file = files.find((each) => each.path === path);
  return file === undefined ? null : known(file.language);
}

/** `und` means unknown. */
function known(language: string): string | null {
  return language === 'und' ? null : language;
}

/** @param language null for any */
function speaks(file: WrittenSubtitle, language: string | null): boolean {
  return language === null || canonicalLanguage(file.language) === canonicalLanguage(language);
}
