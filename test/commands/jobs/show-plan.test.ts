import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createPages } from '../../../src/client/read/record.ts';
import { findPrices, priceOf, spendableOf } from '../../../src/commands/jobs/spending.ts';
import { linesOf, startVloc } from '../support/run-vloc.ts';

const SRT = '1\n00:00:01,000 --> 00:00:02,000\nHello\n\n2\n00:00:03,000 --> 00:00:04,000\nAgain\n';

async function startWithLessons() {
  const vloc = await startVloc();
  await mkdir(join(vloc.folder, 'lessons', 'week1'), { recursive: true });
  await writeFile(join(vloc.folder, 'lessons', 'a.srt'), SRT);
  await writeFile(join(vloc.folder, 'lessons', 'week1', 'b.srt'), SRT);
  const words = ['translate', 'lessons', '--from', 'en', '--to', 'es', '--out', 'out'];
  const jobs = async () => JSON.parse((await vloc.run(['jobs', 'list', '-o', 'json'])).stdout).data.length;
  return { ...vloc, words, jobs };
}

test('--dry-run shows the plan and makes no job', async () => {
  const { run, words, jobs, folder } = await startWithLessons();
  const { code, stdout } = await run([...words, '--dry-run', '-o', 'json']);
  expect(code).toBe(0);
  const plan = JSON.parse(stdout);
  expect(plan).toMatchObject({ object: 'plan', jobs: 2, uploads: 0, quantity: 4, credits: null });
  expect(plan.balance).toBeGreaterThan(0);
  expect(plan.items.map((item: { results: string[] }) => item.results)).toEqual([
    [join(folder, 'out', 'a.es.srt')],
    [join(folder, 'out', 'week1', 'b.es.srt')],
  ]);
  expect(await jobs()).toBe(0);
  expect(await readdir(folder)).not.toContain('out');
});

test('it knows finished items, and the price from earlier charges', async () => {
  const { run, words, jobs, folder } = await startWithLessons();
  expect((await run(words)).code).toBe(0);
  await writeFile(join(folder, 'lessons', 'c.srt'), SRT.replace(/^[A-Za-z]/gm, 'Not $&'));
  const { stdout } = await run([...words, '--dry-run', '-o', 'ndjson']);
  const lines = linesOf(stdout);
  expect(lines.at(-1)).toMatchObject({ type: 'summary', jobs: 1, done_before: 2, credits: 2 });
  expect(lines.slice(0, -1).map(({ input, status }) => [input, status])).toEqual([
    ['lessons/a.srt', 'done before'],
    ['lessons/c.srt', 'new'],
    ['lessons/week1/b.srt', 'done before'],
  ]);
  expect(await jobs()).toBe(2);
});

test('it says where --max-credits would stop the run, which stops there', async () => {
  const { run, words, jobs, folder } = await startWithLessons();
  // The same lines would come from the memory.
  await writeFile(join(folder, 'lessons', 'week1', 'b.srt'), SRT.replace(/^[A-Za-z]/gm, 'Not $&'));
  const limitOf = async (...more: string[]) =>
    JSON.parse((await run([...words, '--dry-run', '-o', 'json', ...more])).stdout).limit;
  expect(await limitOf()).toBeNull();
  const job = (input: string) => ({ kind: 'subtitle_translation', input, target_language: 'es' });
  // Nothing says what a line costs before the first job.
  expect(await limitOf('--max-credits', '3')).toMatchObject({
    verdict: 'price unknown',
    job: job('lessons/a.srt'),
  });
  const priced = ['--price', 'subtitle_translation=1', '--max-credits'];
  expect(await limitOf(...priced, '3')).toEqual({
    max_credits: 3,
    verdict: 'stops',
    job: job('lessons/week1/b.srt'),
    before_credits: 2,
    after_credits: 4,
  });
  const { stderr } = await run([...words, '--dry-run', ...priced, '3']);
  expect(stderr).toContain(
    'Limit: the run would stop before the translation of lessons/week1/b.srt → es: with it the cost would be 4 credits, over --max-credits 3; without it, 2 credits.',
  );
  expect((await run([...words, ...priced, '3'])).code).toBe(6);
  expect(await jobs()).toBe(1);
  // The first job has shown the price, and its cost counts.
  expect(await limitOf('--max-credits', '3')).toMatchObject({ verdict: 'stops', before_credits: 2 });
  expect(await limitOf('--max-credits', '4')).toMatchObject({ verdict: 'fits', job: null, after_credits: 4 });
  const elsewhere = [...words.slice(0, -1), 'other'];
  const { code } = await run([...elsewhere, '--max-credits', '1']);
  // The charge of the account is known here as it is to the plan, so the first job is not sent.
  expect([code, await jobs()]).toEqual([6, 1]);
});

test('problems are reported as by the command itself, and people get a table', async () => {
  const { run, words } = await startWithLessons();
  const { stdout, stderr } = await run([...words, '--dry-run']);
  expect(stdout).toMatch(/lessons\/a\.srt\s+es\s+new\s+2 lines\s+unknown/);
  expect(stderr).toContain('New jobs: 2, 4 lines.');
  const wrong = await run([...words, 'missing.srt', '--dry-run']);
  expect([wrong.code, wrong.stdout]).toEqual([2, '']);
  expect(wrong.stderr).toContain('missing.srt');
});

test('the price follows from the last charge, not from a payment', () => {
  const line = (amount: number, quantity: number | null, capability = 'dubbing') => ({
    amount,
    quantity,
    capability,
  });
  expect(
    priceOf('dubbing', [line(5, 1), line(-9, 1, 'other'), line(-1, null), line(-3, 2), line(-8, 2)]),
  ).toBe(1.5);
  expect(priceOf('dubbing', [line(5, 1)])).toBeNull();
});

test('a price is found after the charges of other kinds, in at most 500', async () => {
  const { signal } = new AbortController();
  const asked: unknown[] = [];
  const charges = (pages: readonly (readonly string[])[]) => ({
    transactions: ({ cursor = '0' }: { cursor?: string | undefined } = {}) =>
      createPages(async () => {
        asked.push(cursor);
        const page = Number(cursor);
        const data = (pages[page] ?? []).map((capability) => ({
          ...{ id: 'txn_1', object: 'credit_transaction' as const, capability, amount: -3, quantity: 2 },
          ...{ job_id: null, client_reference: null, unit: null, posted_at: null },
        }));
        return {
          object: 'list' as const,
          data,
          has_more: page + 1 < pages.length,
          next_cursor: page + 1 < pages.length ? `${page + 1}` : null,
        };
      }),
  });
  const others = ['auto_localization'];
  const find = (pages: readonly (readonly string[])[]) => findPrices(['dubbing'], {}, charges(pages), signal);
  expect(await find([others, others, ['dubbing'], others])).toEqual({ dubbing: 1.5 });
  expect(asked).toEqual(['0', '1', '2']);
  expect(await find([others, others])).toEqual({});
  asked.length = 0;
  const endless = Array.from({ length: 20 }, () => others);
  expect(await find(endless)).toEqual({});
  expect(asked).toHaveLength(10);
});

test('the spendable credits are those of the account, or the rest of the quota of the key', () => {
  const balance = (available: number, remaining: number | null) => ({
    available_credits: available,
    monthly_usage: {
      month: null,
      time_zone: 'UTC',
      used_credits: 0,
      limit_credits: remaining,
      remaining_credits: remaining,
      resets_at: null,
    },
  });
  expect(spendableOf(balance(90, null))).toBe(90);
  expect(spendableOf(balance(90, 60))).toBe(60);
  expect(spendableOf(balance(90, 100))).toBe(90);
});
