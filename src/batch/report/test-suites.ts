/** The items of a batch as tests of a CI system. */
import { relative } from 'node:path';
import { describeLosses, describeWarnings, fallbacksOf } from '../item-provenance.ts';
import { type AttentionPlace, describePlace } from './attention.ts';
import { type BatchFacts, FAILED_STATES, type ReportHead } from './batch-facts.ts';
import { type ItemReport, nameItem } from './item-report.ts';
import { nameFolder } from './text-reports.ts';

/** A test that passes, unless it has failed or was skipped. */
export interface TestCase {
  readonly name: string;
  /** What such tests are about. */
  readonly subject: string;
  readonly durationMs?: number;
  readonly failure?: { readonly type: string; readonly message: string; readonly lines: readonly string[] };
  /** Why it was not run. */
  readonly skipped?: string;
  readonly output?: readonly string[];
  readonly remarks?: readonly string[];
}

export interface TestSuite {
  readonly name: string;
  /** RFC 3339. */
  readonly at?: string;
  readonly cases: readonly TestCase[];
}

type AttentionOf = (item: ItemReport) => readonly AttentionPlace[];

/**
 * A suite for each folder, and one for shards that have not run.
 * @param attentionOf what needs a person in the result of an item: it fails for that
 */
export function listSuites(
  { items, missing_shards: missing }: BatchFacts,
  head: ReportHead,
  attentionOf: AttentionOf = () => [],
): readonly TestSuite[] {
  const [only = ''] = head.folders;
  const suites = head.folders.map((folder) => {
    const own = items.filter((item) => (item.folder ?? only) === folder);
    const cases = own.map((item) => caseOf(item, folder, attentionOf(item)));
    return { name: nameFolder(folder, head), at: head.madeAt, cases };
  });
  const skipped = 'it has not run on this machine';
  const cases = missing.map((shard) => ({ name: `shard ${shard}`, subject: 'shard', skipped }));
  return missing.length === 0 ? suites : [...suites, { name: 'shards', at: head.madeAt, cases }];
}

function caseOf(item: ItemReport, folder: string, places: readonly AttentionPlace[]): TestCase {
  const { kind, label, files, created_at: from, finished_at, downloaded_at, provenance } = item;
  const to = downloaded_at ?? finished_at;
  const isTimed = from !== null && to !== null;
  const show = (path: string) => relative(folder, path);
  const lines = places.flatMap((place) =>
    describePlace(place, place.file === null ? label : show(place.file)),
  );
  return {
    name: nameItem(item),
    subject: kind,
    durationMs: isTimed ? Math.max(0, Date.parse(to) - Date.parse(from)) : 0,
    ...outcomeOf(item, lines),
    output: files.map(({ path }) => show(path)),
    remarks:
      provenance === undefined
        ? []
        : [...fallbacksOf(provenance), ...describeWarnings(provenance), ...describeLosses(provenance, show)],
  };
}

/** @param places lines about what needs a person */
function outcomeOf(
  { state, error, job_id: job }: ItemReport,
  places: readonly string[],
): Pick<TestCase, 'failure' | 'skipped'> {
  if (state === 'done') {
    const what = places.length === 1 ? '1 place needs' : `${places.length} places need`;
    const failure = { type: 'NEEDS_ATTENTION', message: `${what} a person`, lines: places };
    return places.length === 0 ? {} : { failure };
  }
  if (!FAILED_STATES.some((each) => each === state)) return { skipped: state };
  const type = error?.code ?? state.toUpperCase();
  const message = error?.message ?? state;
  const origin = [
    ['code', type],
    ['job', job],
    ['request', error?.request_id ?? null],
    ['retryable', error?.retryable === true ? 'yes' : 'no'],
  ].flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]));
  return { failure: { type, message, lines: [message, ...origin, ...places] } };
}
