/** How each job of a run ended, in every form that stdout can take. */
import { Failure } from '../../client/failure.ts';
import type { Job } from '../../client/index.ts';
import type { Context } from '../context.ts';
import { formatBytes } from '../format.ts';
import type { DeliveredFile } from './deliver.ts';

export interface Outcome {
  /** What the person named: an input, or the id of a job. */
  readonly label: string;
  readonly stem: string;
  readonly job: Job | null;
  readonly files: readonly DeliveredFile[];
  readonly failure: Failure | null;
}

/** One outcome as JSON modes show it; null where there is nothing to say. */
export function outcomeDocument(outcome: Outcome): object {
  const { job, failure } = outcome;
  return {
    input: outcome.label,
    id: job?.id ?? null,
    kind: job?.object ?? null,
    status: job?.status ?? null,
    target_language: job?.input?.target_language ?? null,
    client_reference: job?.client_reference ?? null,
    charged_credits: job?.billing?.charged_credits ?? null,
    expires_at: job?.expires_at ?? null,
    files: outcome.files,
    error:
      failure === null
        ? null
        : {
            code: failure.facts.code,
            message: failure.facts.message,
            request_id: failure.facts.requestId ?? null,
            retryable: failure.facts.retryable ?? false,
          },
  };
}

/** Writes the end of a run to stdout in the chosen form; `ndjson` has written its events before. */
export async function printOutcomes(context: Context, outcomes: readonly Outcome[]): Promise<void> {
  switch (context.output) {
    case 'json':
      context.print(JSON.stringify({ object: 'list', data: outcomes.map(outcomeDocument) }, null, 2));
      return;
    case 'ndjson': {
      const failed = outcomes.filter((outcome) => outcome.failure !== null).length;
      context.print(JSON.stringify({ type: 'summary', jobs: outcomes.length, failed }));
      return;
    }
    case 'id':
      for (const { job } of outcomes) if (job !== null) context.print(job.id);
      return;
    case 'plain':
      for (const file of outcomes.flatMap((outcome) => outcome.files)) context.print(file.path);
      return;
    case 'table':
      context.print(
        await context.terminal.table(['INPUT', 'JOB', 'STATUS', 'RESULT', 'SIZE'], outcomes.flatMap(rowsOf)),
      );
  }
}

function rowsOf(outcome: Outcome): string[][] {
  const start = [outcome.label, outcome.job?.id ?? '-', outcome.job?.status ?? 'not started'];
  if (outcome.files.length === 0) return [[...start, outcome.failure?.facts.code ?? '-', '-']];
  return outcome.files.map((file) => [
    ...start,
    file.path,
    file.bytes === null ? 'was there' : formatBytes(file.bytes),
  ]);
}

/**
 * The failure that the whole run ends with: the only one, or a summary of several.
 * Failures of one category keep it, so that a script sees "no credits" and not "some failed".
 */
export function summarizeFailures(outcomes: readonly Outcome[]): Failure | null {
  const failures = outcomes.flatMap((outcome) => (outcome.failure === null ? [] : [outcome.failure]));
  const [first] = failures;
  if (first === undefined) return null;
  if (failures.length === 1 && outcomes.length === 1) return first;
  const isWhole = failures.length === outcomes.length;
  const isOneKind = failures.every((failure) => failure.facts.category === first.facts.category);
  return new Failure({
    category: isWhole && isOneKind ? first.facts.category : 'partial',
    code: isWhole ? first.facts.code : 'SOME_FAILED',
    message: `${failures.length} of ${outcomes.length} jobs did not give a result`,
    advice:
      'Mend what each of them names, then run the same command with --skip-existing: only those run again.',
    errors: outcomes.flatMap(({ label, failure }) =>
      failure === null ? [] : [{ pointer: label, detail: `${failure.message} (${failure.facts.code})` }],
    ),
  });
}
