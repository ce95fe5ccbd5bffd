/** Commands that get the results of jobs: `jobs wait` and `jobs download`. */

import { flagOption } from '../../base/option.ts';
import { readDelivery } from '../../batch/inputs/delivery.ts';
import type { Job } from '../../client/index.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import type { Connection } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import { openLocalRecords } from '../context/local-records.ts';
import { sameCommand } from '../context/printed-command.ts';
import { JOB_OPERANDS, readReferences } from '../context/references.ts';
import { deliveryCommand } from './continuation.ts';
import { deliverJobs, deliverTo } from './deliver-jobs.ts';
import { deliverJob, type Follow, followJob } from './follow-job.ts';
import { checkFolder, JOB_DELIVERY_OPTIONS, TIMEOUT_OPTION } from './job-options.ts';
import { OUTCOME_FIELDS, type Outcome } from './job-outcomes.ts';
import { KIND_OPTION, type KindChoice, listJobs, readKinds } from './list-jobs.ts';
import { DELIVERIES } from './outputs.ts';
import { RESULT_NAMES_NOTE } from './result-places.ts';

export const jobsDownload: Command = defineCommand({
  operands: { ...JOB_OPERANDS, count: 'any' },
  options: {
    allFinished: flagOption('download the results of all succeeded jobs that are not in the folder yet'),
    kind: KIND_OPTION,
    ...JOB_DELIVERY_OPTIONS,
  },
  fields: () => OUTCOME_FIELDS,
  examples: [
    {
      command: 'vloc jobs download loc_01k9x2m4n6p8q0r2s4t6v8w0y2 --out out',
      explains: 'the files of one finished job',
    },
    {
      command: 'vloc jobs download --all-finished --out results',
      explains: 'all results, starting with those that expire first',
    },
  ],
  notes: [
    RESULT_NAMES_NOTE,
    'Results can be downloaded for 24 hours. --all-finished skips files that are already in the folder; --clobber ' +
      'downloads them again. Running jobs are not waited for; use `vloc jobs wait ID`.',
  ],
  prints: DELIVERIES,
  run: async (context, operands, options) => {
    const { allFinished } = options;
    checkChoice(operands, allFinished);
    await checkFolder(options, context.io);
    const kinds = readKinds(options.kind);
    const named = await readReferences(operands, context.io);
    const existing = allFinished && !options.clobber ? { skipExisting: true } : {};
    const usual = readDelivery(null, { ...options, ...existing }, context.io);
    return deliverTo(context, options, named.ids, usual, (target, delivery) =>
      deliverJobs(target, {
        delivery,
        timeoutMs: null,
        whenNone: 'Nothing to download.',
        choose: async (connection) => (allFinished ? succeededIds(connection, kinds, context) : named.ids),
        pick: (jobs) => (allFinished ? withoutExpired(jobs, context) : jobs).toSorted(soonestFirst),
        deliver: deliverInTurn,
        goOn: (ids) =>
          allFinished ? sameCommand(context) : deliveryCommand('download', ids, delivery, context),
      }),
    );
  },
});

async function deliverInTurn(follow: Follow, jobs: readonly Job[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const job of jobs) outcomes.push(await deliverJob(follow, job));
  return outcomes;
}

function checkChoice(operands: readonly string[], allFinished: boolean): void {
  if (operands.length > 0 !== allFinished) return;
  throw invalidCallFailure(
    allFinished ? '--all-finished cannot be combined with ids' : 'no job ids given',
    'Name ids, or - for ids on stdin, or use --all-finished.',
  );
}

/** Succeeded jobs from the lists of the service, and recorded jobs of this machine whose results were not downloaded. */
async function succeededIds(
  connection: Connection,
  choice: KindChoice,
  context: Context,
): Promise<readonly string[]> {
  const request = {
    filters: { status: 'succeeded' },
    cursor: undefined,
    limit: Number.POSITIVE_INFINITY,
  };
  const { page, kinds } = await listJobs(connection.client, choice, request, context);
  const listed = page.data.map((job) => `${job.object}/${job.id}`);
  const recorded = await openLocalRecords(connection, context.io.now)
    .jobs.listUnfetched()
    .catch(() => []);
  const due = recorded.filter(({ state, kind }) => state === 'succeeded' && kinds.includes(kind));
  return [...new Set([...listed, ...due.map(({ kind, id }) => `${kind}/${id}`)])];
}

/** Sorts by when download links expire; jobs without a time come last. */
function soonestFirst(left: Job, right: Job): number {
  return expiryOf(left) - expiryOf(right);
}

/** Later than any expiry, and still safe to subtract. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;

function expiryOf({ expires_at: instant }: Job): number {
  const atMs = Date.parse(instant ?? '');
  return Number.isNaN(atMs) ? NEVER_MS : atMs;
}

/** Expired results were not named by the user, so they cause a note, not a failure. */
function withoutExpired(jobs: readonly Job[], { io, terminal }: Context): readonly Job[] {
  const due = jobs.filter((job) => expiryOf(job) > io.now());
  const expired = jobs.length - due.length;
  if (expired > 0) terminal.note(`${expired} ${expired === 1 ? 'result has' : 'results have'} expired.`);
  return due;
}

export const jobsWait: Command = defineCommand({
  operands: JOB_OPERANDS,
  options: { ...JOB_DELIVERY_OPTIONS, ...TIMEOUT_OPTION },
  fields: () => OUTCOME_FIELDS,
  examples: [
    {
      command: 'vloc jobs wait loc_01k9x2m4n6p8q0r2s4t6v8w0y2 --out out',
      explains: 'wait, then download into ./out',
    },
    {
      command: 'vloc jobs wait loc_01k9x2m4n6p8q0r2s4t6v8w0y2 --timeout 10m',
      explains: 'exit code 8 if it is still running',
    },
    {
      command: 'vloc jobs list --status processing --all -o id | vloc jobs wait - --out out',
      explains: 'wait for all running jobs',
    },
  ],
  notes: [RESULT_NAMES_NOTE],
  prints: DELIVERIES,
  run: async (context, operands, options) => {
    await checkFolder(options, context.io);
    const { ids } = await readReferences(operands, context.io);
    return deliverTo(context, options, ids, readDelivery(null, options, context.io), (target, delivery) =>
      deliverJobs(target, {
        delivery,
        timeoutMs: options.timeout ?? null,
        whenNone: 'No jobs to wait for.',
        choose: async () => ids,
        pick: (jobs) => jobs,
        deliver: (follow, jobs) => Promise.all(jobs.map((job) => followJob(follow, job))),
        goOn: (left) => deliveryCommand('wait', left, delivery, context),
      }),
    );
  },
});
