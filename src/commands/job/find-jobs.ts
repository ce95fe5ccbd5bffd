/** Jobs by what people name them: a bare id, kind/id, detail_url. */
import type { Client, Job } from '../../client/index.ts';
import { JOB_KIND_NAMES } from '../../protocol/kind-names.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { type Collected, collect } from '../collect.ts';
import type { Context } from '../context.ts';

/** Up to here asking all five kinds for each bare id costs no more than reading the newest page of every list. */
const FEW = 1;

/** Reads every job. For many bare ids the lists say first of which kind each is, so that none is asked for five times. */
export async function collectJobs(
  context: Pick<Context, 'signal'>,
  client: Pick<Client, 'jobs'>,
  references: readonly string[],
): Promise<Collected<Job>> {
  const { signal } = context;
  const bare = references.filter((reference) => !reference.includes('/'));
  const paths =
    bare.length > FEW ? await learnKinds(client, new Set(bare), signal) : new Map<string, string>();
  return collect(context, references, (reference) =>
    client.jobs.find(paths.get(reference) ?? reference, { signal }),
  );
}

/** `kind/id` for the ids that stand on the newest page of a list; the others are looked for one by one. */
async function learnKinds(
  client: Pick<Client, 'jobs'>,
  ids: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const limit = LIMITS.pageSize.max;
  const pages = await Promise.allSettled(
    JOB_KIND_NAMES.map((kind) => client.jobs.list(kind, { limit }, { signal })),
  );
  // A list that cannot be read only costs the help it would have been.
  const summaries = pages.flatMap((page) => (page.status === 'fulfilled' ? page.value.data : []));
  return new Map(
    summaries.filter(({ id }) => ids.has(id)).map(({ id, object }) => [id, `${object}/${id}`] as const),
  );
}
