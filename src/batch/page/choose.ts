/** Selects and orders the listed entries. */
import type { EntryState, ReportEntry } from '../report/page-facts.ts';

/** An entry without its detail. */
export type ListedEntry = Omit<ReportEntry, 'detail'>;

export const ORDERS = ['attention', 'name', 'misfits'] as const;

export interface ListFilter {
  readonly query: string;
  readonly state: EntryState | 'misfits' | 'all';
  /** Empty for all. */
  readonly language: string;
  readonly order: (typeof ORDERS)[number];
}

export const EVERYTHING: ListFilter = { query: '', state: 'all', language: '', order: 'attention' };

/**
 * The entries that match, in order.
 * @param subtitlesOf the subtitles of an entry in lower case; called only for entries that do not match otherwise
 */
export function chooseEntries<Entry extends ListedEntry>(
  entries: readonly Entry[],
  choice: ListFilter,
  subtitlesOf: (entry: Entry) => string,
): Entry[] {
  const words = choice.query.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = entries.filter((entry) => {
    if (!isInState(entry, choice.state)) return false;
    if (choice.language !== '' && entry.language !== choice.language) return false;
    const known = describe(entry);
    return words.every((word) => known.includes(word) || subtitlesOf(entry).includes(word));
  });
  // `sort` is stable, so equal entries keep the order of the batch.
  return chosen.sort(COMPARE[choice.order]);
}

/** Whether a filter by state shows the entry. */
export function isInState(entry: ListedEntry, state: ListFilter['state']): boolean {
  if (state === 'all') return true;
  return state === 'misfits' ? (entry.misfits ?? 0) > 0 : entry.state === state;
}

/** The text to search: name, language, ids, error codes and messages, in lower case. */
function describe({ name, language, variant, jobs }: ListedEntry): string {
  const ofJobs = jobs.flatMap((job) => [
    ...[job.kind, job.job_id, job.client_reference, ...job.request_ids],
    ...(job.failure === null ? [] : [job.failure.code, job.failure.message]),
  ]);
  return [name, language, variant, ...ofJobs].filter(Boolean).join('\n').toLowerCase();
}

const RANK: Readonly<Record<EntryState, number>> = { failed: 0, unfinished: 1, done: 2 };

/** `talk 2` before `talk 10`. */
const NAMES = new Intl.Collator('en', { numeric: true });

const COMPARE: Readonly<Record<ListFilter['order'], (left: ListedEntry, right: ListedEntry) => number>> = {
  attention: (left, right) => RANK[left.state] - RANK[right.state],
  name: (left, right) => NAMES.compare(left.name, right.name),
  misfits: (left, right) => (right.misfits ?? -1) - (left.misfits ?? -1),
};
