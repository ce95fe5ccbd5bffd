/** Finds jobs by bare id, kind/id or detail_url. */

import type { JobEntry } from '../../batch/records/job-record.ts';
import type { Client, Job } from '../../client/index.ts';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { Connection } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import { openLocalRecords } from '../context/local-records.ts';
import { type Collected, collectRows } from '../context/references.ts';

/** Up to this number, asking all five kinds for each bare id costs no more than reading the newest page of each list. */
const FEW = 1;

type Named = Pick<Connection, 'client' | 'stateDir' | 'profile'>;

/** Reads jobs. The kind of a bare id comes from the records of this machine, else from the lists. */
export async function collectJobs(
  context: Pick<Context, 'signal' | 'io'>,
  connection: Named,
  references: readonly string[],
): Promise<Collected<Job>> {
  const { signal } = context;
  const { client } = connection;
  const recorded = await recordedKinds(context, connection);
  const unknown = references.filter((reference) => !reference.includes('/') && !recorded.has(reference));
  const listed = unknown.length > FEW ? await listedKinds(client, new Set(unknown), signal) : new Map();
  const read = (reference: string) => client.jobs.find(reference, { signal });
  return collectRows(context, references, (reference) =>
    read(recorded.get(reference) ?? listed.get(reference) ?? reference),
  );
}

/** The jobs that this machine has made; none if the record cannot be read. */
export async function recordedJobs(
  { io }: Pick<Context, 'io'>,
  connection: Pick<Connection, 'stateDir' | 'profile'>,
): Promise<readonly JobEntry[]> {
  return openLocalRecords(connection, io.now)
    .jobs.list()
    .catch(() => []);
}

/** The inputs of these jobs by id, as given to their commands. */
export function inputsOf(jobs: readonly JobEntry[]): ReadonlyMap<string, string> {
  return new Map(
    jobs.flatMap(({ id, inputs: [input] }) => (input === undefined ? [] : [[id, input] as const])),
  );
}

/** `kind/id` for the ids of those jobs. */
export async function recordedKinds(
  context: Pick<Context, 'io'>,
  connection: Pick<Connection, 'stateDir' | 'profile'>,
): Promise<ReadonlyMap<string, string>> {
  const jobs = await recordedJobs(context, connection);
  return new Map(jobs.map(({ id, kind }) => [id, `${kind}/${id}`] as const));
}

/** The same for ids on the newest page of a list; others are looked up individually. */
async function listedKinds(
  client: Pick<Client, 'jobs'>,
  ids: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const limit = LIMITS.pageSize.max;
  const pages = await Promise.allSettled(
    JOB_KIND_NAMES.map((kind) => client.jobs.list(kind, { limit }, { signal })),
  );
  // A list that cannot be read is ignored.
  const summaries = pages.flatMap((page) => (page.status === 'fulfilled' ? page.value.data : []));
  return new Map(
    summaries.filter(({ id }) => ids.has(id)).map(({ id, object }) => [id, `${object}/${id}`] as const),
  );
}
