/** The outcomes of jobs as they are printed, the failure that sums them up, and the exit code. */

import { resolve } from 'node:path';
import { formatBytes } from '../../base/amounts.ts';
import { EXIT_CODES } from '../../base/exit-codes.ts';
import { Failure } from '../../base/failure.ts';
import type { DeliveredFile } from '../../batch/deliver/download-results.ts';
import type { ItemProvenance } from '../../batch/item-provenance.ts';
import type { PlannedItem } from '../../batch/plan/batch-plan.ts';
import type { RunOutcome } from '../../batch/run/batch.ts';
import type { Job } from '../../client/index.ts';
import { type Context, Interruption, type TableHead } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import type { Presentation, Table } from '../context/output/presentation.ts';
import { plainCell } from '../context/records.ts';

export interface Outcome {
  /** As the user named it: an input, or the id of a job. */
  readonly label: string;
  /** The input of a job that was named by its id; missing without a record on this machine. */
  readonly input?: string | undefined;
  readonly stem: string;
  readonly job: Job | null;
  /** Facts about the job if this run has not read it. */
  readonly known?: {
    readonly id: string | null;
    readonly kind: string;
    readonly target_language: string | null;
    readonly status: string | null;
    /** Sum over several jobs; missing if the job contains it. */
    readonly charged_credits?: number | null;
    /** Ids of the jobs of an item in parts; otherwise empty or missing. */
    readonly part_ids?: readonly string[];
  };
  readonly files: readonly DeliveredFile[];
  readonly failure: Failure | null;
  /** How the result was made; missing or null if the service does not say. */
  readonly provenance?: ItemProvenance | null;
}

/** The fields of an outcome in JSON, each with the function that reads it. */
const DOCUMENT: Readonly<Record<string, (outcome: Outcome) => unknown>> = {
  input: ({ label, input }) => input ?? label,
  id: ({ job, known }) => job?.id ?? known?.id ?? null,
  kind: ({ job, known }) => job?.object ?? known?.kind ?? null,
  status: ({ job, known }) => job?.status ?? known?.status ?? null,
  target_language: ({ job, known }) => known?.target_language ?? job?.input.target_language ?? null,
  client_reference: ({ job }) => job?.client_reference ?? null,
  charged_credits: ({ job, known }) => job?.billing?.charged_credits ?? known?.charged_credits ?? null,
  expires_at: ({ job }) => job?.expires_at ?? null,
  files: ({ files }) => files,
  error: ({ failure }) => (failure === null ? null : errorDocument(failure)),
  provenance: ({ provenance }) => provenance ?? null,
};

/** The names that --fields accepts. */
export const OUTCOME_FIELDS: readonly string[] = Object.keys(DOCUMENT);

/**
 * One outcome as JSON.
 * @param chosen the fields of --fields; null for all, without `provenance` if the service does not say it
 */
export function outcomeDocument(outcome: Outcome, chosen: readonly string[] | null = null): object {
  const fields =
    chosen ??
    OUTCOME_FIELDS.filter((field) => field !== 'provenance' || (outcome.provenance ?? null) !== null);
  return Object.fromEntries(fields.map((field) => [field, DOCUMENT[field]?.(outcome) ?? null]));
}

function errorDocument({ facts }: Failure): object {
  return {
    code: facts.code,
    message: facts.message,
    request_id: facts.requestId ?? null,
    retryable: facts.retryable ?? false,
  };
}

/** True for an outcome with neither result nor failure, because the run was interrupted. */
export function isLeft({ files, failure }: Outcome): boolean {
  return failure === null && files.length === 0;
}

/**
 * The outcomes of a run; of its events only the summary, since the others were printed before.
 * @param exitCode for the summary, if known
 * @param more fields of the document
 */
export function presentOutcomes(
  { fields, io }: Pick<Context, 'fields' | 'io'>,
  outcomes: readonly Outcome[],
  exitCode?: number,
  more: object = {},
) {
  const documents = () => outcomes.map((outcome) => outcomeDocument(outcome, fields));
  const cells = () => documents().map((document) => Object.values(document).map(plainCell));
  return {
    document: () => ({ object: 'list', data: documents(), ...more }),
    events: () => {
      const failed = outcomes.filter(({ failure }) => failure !== null).length;
      const summary = { type: 'summary', jobs: outcomes.length, failed };
      return [exitCode === undefined ? summary : { ...summary, exit_code: exitCode }];
    },
    ids: () => outcomes.flatMap(idsOf),
    rows: () =>
      fields === null ? outcomes.flatMap(({ files }) => files.map(({ path }) => [path])) : cells(),
    pages: () => {
      if (outcomes.length === 0) return [];
      if (fields === null) return [tableOf(outcomes, io.cwd)];
      return [{ head: fields.map((field) => field.toUpperCase()), rows: cells() }];
    },
  } satisfies Presentation;
}

/** The id of the job, or those of its parts. */
function idsOf({ job, known }: Outcome): readonly string[] {
  const parts = known?.part_ids ?? [];
  return parts.length > 0 ? parts : [job?.id ?? known?.id ?? []].flat();
}

/** Empty columns are omitted. */
const HEAD = {
  input: { title: 'INPUT', wraps: 20 },
  language: 'LANGUAGE',
  status: { title: 'STATUS', status: true },
  result: { title: 'RESULT', wraps: 20 },
  size: { title: 'SIZE', drops: 1 },
  job: { title: 'JOB', drops: 2 },
} as const satisfies Readonly<Record<string, TableHead>>;

type Row = Readonly<Record<keyof typeof HEAD, string>>;

function tableOf(outcomes: readonly Outcome[], cwd: string): Table {
  const rows = outcomes.flatMap((outcome) => rowsOf(outcome, cwd));
  const columns = (Object.keys(HEAD) as (keyof typeof HEAD)[]) // of a constant
    .filter((name) => name === 'input' || name === 'status' || rows.some((row) => row[name] !== '-'));
  return {
    head: columns.map((name) => HEAD[name]),
    rows: rows.map((row) => columns.map((name) => row[name])),
  };
}

function describeStatus({ job, known, failure }: Outcome): string {
  return job?.status ?? known?.status ?? (failure === null ? 'not started' : 'failed');
}

function rowsOf(outcome: Outcome, cwd: string): Row[] {
  const { label, input = label, job, known, failure, files } = outcome;
  const language = job?.input?.target_language ?? known?.target_language;
  const start = {
    input,
    language: typeof language === 'string' ? language : '-',
    status: describeStatus(outcome),
    job: job?.id ?? known?.id ?? '-',
  };
  if (files.length === 0) return [{ ...start, result: failure?.facts.code ?? '-', size: '-' }];
  return files.map(({ path, bytes }) => ({
    ...start,
    result: showPath(path, cwd),
    size: bytes === null ? 'exists' : formatBytes(bytes),
  }));
}

/**
 * The failure of the whole run: the only one, or a summary of several.
 * If all failures have the same category, the summary has it too, so that a script sees "no credits".
 */
export function outcomesFailure(
  outcomes: readonly Pick<Outcome, 'label' | 'failure'>[],
  what = 'jobs failed',
  advice = 'Fix the problems above, then run the same command again.',
): Failure | null {
  const failures = outcomes.flatMap((outcome) => (outcome.failure === null ? [] : [outcome.failure]));
  const [first] = failures;
  if (first === undefined) return null;
  if (failures.length === 1 && outcomes.length === 1) return first;
  const isWhole = failures.length === outcomes.length;
  const isOneKind = failures.every((failure) => failure.facts.category === first.facts.category);
  return new Failure({
    category: isWhole && isOneKind ? first.facts.category : 'partial',
    code: isWhole ? first.facts.code : 'SOME_FAILED',
    message: `${failures.length} of ${outcomes.length} ${what}`,
    advice,
    errors: outcomes.flatMap(({ label, failure }) =>
      failure === null ? [] : [{ pointer: label, detail: `${failure.message} (${failure.facts.code})` }],
    ),
  });
}

/** Converts an outcome of a batch. @param planned the item in the plan, which names files that existed before */
export function toOutcome(
  { item, state, job, partJobs }: RunOutcome,
  planned: PlannedItem | undefined,
): Outcome & Required<Pick<Outcome, 'known'>> {
  const { label, stem } = item.input;
  const known = {
    id: state.jobId,
    kind: item.kind,
    target_language: item.targetLanguage,
    status: STATUS[state.phase],
    charged_credits: state.phase === 'done' ? state.credits : null,
    part_ids: partJobs ?? [],
  };
  const files = state.phase === 'done' && item.isInner !== true ? filesOf(state, planned) : [];
  const provenance = state.phase === 'left' ? null : (state.provenance ?? null);
  return { label, stem, job, known, files, failure: outcomeFailure(state), provenance };
}

/** The status of an item whose job this run has not read. */
const STATUS = { done: 'succeeded', failed: 'failed', left: null } as const;

function filesOf(
  state: Extract<RunOutcome['state'], { phase: 'done' }>,
  planned: PlannedItem | undefined,
): Outcome['files'] {
  const skipped = state.before !== null;
  if (state.before !== 'exists') return state.files.map((file) => ({ ...file, skipped }));
  const paths = planned?.paths ?? [];
  return paths.map((path) => ({ asset: '', path: resolve(path), bytes: null, sha256: null, skipped }));
}

/** An item that still runs or was not started has not failed; the failure of the run explains it. */
function outcomeFailure(state: RunOutcome['state']): Failure | null {
  return state.phase === 'failed' ? state.failure : null;
}

/** The exit code that the run will end with. @param failure of the run, unless it is interrupted; null for none */
export function exitCodeOf({ signal }: Pick<Context, 'signal'>, failure: Failure | null): number {
  if (!signal.aborted) return EXIT_CODES[failure?.facts.category ?? 'done'].code;
  if (signal.reason instanceof Failure) return EXIT_CODES[signal.reason.facts.category].code;
  return EXIT_CODES[signal.reason instanceof Interruption ? signal.reason.signalName : 'SIGINT'].code;
}
