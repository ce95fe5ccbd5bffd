import { describe, expect, test } from 'vitest';
import { Failure, type Job } from '../../../src/client/index.ts';
import { type JobReader, type PollHandlers, pollJobs } from '../../../src/client/jobs/shared-poller.ts';
import { readJob, readJobSummary } from '../../../src/client/read/job.ts';

const KIND = 'dubbing';

interface Seen {
  readonly asked: string[];
  readonly found: Map<string, string>;
  readonly ended: string[];
}

/**
 * Looks at jobs of a service whose list has these pages, `id` or `id!` for one that has ended.
 * @param trouble thrown by the read of a job, by its id
 */
async function look(
  pages: readonly (readonly string[])[],
  wanted: readonly string[],
  trouble: ReadonlyMap<string, Failure> = new Map(),
): Promise<Seen> {
  const asked: string[] = [];
  const describe = (entry: string) => ({
    id: entry.replace('!', ''),
    status: entry.endsWith('!') ? 'succeeded' : 'processing',
  });
  const jobs: JobReader = {
    async get(_kind, id): Promise<Job> {
      asked.push(id);
      const failure = trouble.get(id);
      if (failure !== undefined) throw failure;
      return readJob(KIND, describe(`${id}!`), null);
    },
    async list(_kind, { cursor = '0' }) {
      asked.push(`page ${cursor}`);
      const next = Number(cursor) + 1 < pages.length ? String(Number(cursor) + 1) : null;
      const data = (pages[Number(cursor)] ?? []).map((entry) => readJobSummary(KIND, describe(entry), null));
      return { object: 'list', data, has_more: next !== null, next_cursor: next };
    },
  };
  const found = new Map<string, string>();
  const ended: string[] = [];
  const findings: PollHandlers = {
    ended: (id) => ended.push(id),
    found: (id, job) => found.set(id, job instanceof Failure ? job.facts.code : job.status),
  };
  await pollJobs(jobs, KIND, wanted, {}, findings);
  return { asked, found, ended };
}

describe('polling several jobs', () => {
  test('reads one list, and each job that has ended', async () => {
    const { asked, found, ended } = await look([['a', 'b!', 'c']], ['a', 'b', 'c']);
    expect(asked).toEqual(['page 0', 'b']);
    expect([...found]).toEqual([
      ['a', 'processing'],
      ['c', 'processing'],
      ['b', 'succeeded'],
    ]);
    expect(ended).toEqual(['b']);
  });

  test('reads a job that is not on the page by itself', async () => {
    expect((await look([['a'], ['x']], ['a', 'x'])).asked).toEqual(['page 0', 'x']);
  });

  test('reads the next page if that takes fewer requests than reading each job', async () => {
    const { asked, found } = await look([['a'], ['x', 'y', 'z']], ['a', 'x', 'y', 'z']);
    expect(asked).toEqual(['page 0', 'page 1']);
    expect(found.size).toBe(4);
  });

  test('ends with a temporary failure, and reports a permanent one', async () => {
    const passing = new Failure({ category: 'temporary', code: 'BUSY', message: 'busy' });
    const final = new Failure({ category: 'refused', code: 'GONE', message: 'gone' });
    await expect(look([['a', 'b!']], ['a', 'b'], new Map([['b', passing]]))).rejects.toBe(passing);
    const { found } = await look([['a', 'b!']], ['a', 'b'], new Map([['b', final]]));
    expect(found.get('b')).toBe('GONE');
  });
});
