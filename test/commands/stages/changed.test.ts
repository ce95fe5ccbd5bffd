/** Finished localizations that are run again with other options, in stages and as one job. */
import { writeFileSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { Ended } from '../../support/run-main.ts';
import { type Staging, startStaging } from './staging.ts';

async function openFolder(): Promise<Staging> {
  const vloc = await startStaging();
  await vloc.addVideo('in/a.mp4');
  await rename(vloc.path('talk.mp4'), vloc.path('in/b.mp4'));
  return vloc;
}

interface Failing {
  readonly input: string;
  readonly target_language: string | null;
  readonly code: string;
  readonly message: string;
}

/** What failed in a run with ndjson, as input, language and message. */
function failedOf({ stdout }: Ended): (string | null)[][] {
  const lines = stdout.trim().split('\n');
  const failed: Failing[] = lines.map((line) => JSON.parse(line)).filter(({ type }) => type === 'failed');
  return failed.map((each) => [each.input, each.target_language, each.message]);
}

it('a localization in stages is done for a command that states the language that was found, and refused by plan and run with the same words for another one', async () => {
  const vloc = await openFolder();
  writeFileSync(vloc.path('terms.csv'), 'term,es,fr\nnight,NIGHT,NIGHT\n');
  const words = ['localize', 'in', '--to', 'es,fr', '--terms', 'terms.csv', '--out', 'out'];
  const stop = ['--stop-after', 'translate'];
  const first = await vloc.run([...words, ...stop]);
  expect(first.code, first.stderr).toBe(0);
  const made = await vloc.jobs();
  const found = [...words, ...stop, '--from', 'en'];
  const done = JSON.parse((await vloc.run([...found, '--dry-run', '-o', 'json'])).stdout);
  expect([done.jobs, done.not_usable]).toEqual([0, []]);
  const again = await vloc.run(found);
  expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('Nothing to do')]);
  expect(await vloc.jobs()).toEqual(made);

  await vloc.addVideo('in/c.mp4');
  const other = [...words, '--from', 'en-GB'];
  const planned = await vloc.run([...other, '--dry-run', '-o', 'json']);
  const plan = JSON.parse(planned.stdout);
  expect(planned.code, planned.stderr).toBe(3);
  const ran = await vloc.run([...other, ...stop, '-o', 'ndjson']);
  expect(ran.code, ran.stderr).toBe(3);
  type Problem = { input: string; target_language: string; problem: string };
  const problems = plan.not_usable.map((each: Problem) => [each.input, each.target_language, each.problem]);
  expect(problems.toSorted()).toEqual(failedOf(ran).toSorted());
  expect(problems).toHaveLength(4);
  expect(problems[0][2]).toContain('--from auto (en was found) → en-GB');
  for (const { stderr } of [planned, ran]) {
    expect(stderr).toContain('--clobber');
    expect(stderr).toContain('--out');
    expect(stderr).not.toContain('Fix the');
  }
  // Only the new video: recognition, two translations, two dubs and a separation.
  expect(plan.jobs).toBe(6);
  const counts = (await vloc.jobs()).map((count, at) => count - (made[at] ?? 0));
  expect(counts[0]).toBe(1);
  const status = await vloc.run(['batch', 'status', 'out']);
  expect(status.code, status.stdout).toBe(0);
});

describe('a finished folder of one kind of jobs', () => {
  it('of recognitions is done if the language that was found is stated, and else refused item by item', async () => {
    const vloc = await openFolder();
    const words = ['recognize', 'in', '--out', 'out'];
    expect((await vloc.run(words)).code).toBe(0);
    const stated = await vloc.run([...words, '--from', 'en']);
    expect([stated.code, stated.stderr]).toEqual([0, expect.stringContaining('Nothing to do')]);

    const planned = await vloc.run([...words, '--from', 'en-GB', '--dry-run', '-o', 'json']);
    const ran = await vloc.run([...words, '--from', 'en-GB', '-o', 'ndjson']);
    expect([planned.code, ran.code]).toEqual([2, 2]);
    const { items, jobs } = JSON.parse(planned.stdout);
    expect(jobs).toBe(0);
    type Item = { input: string; target_language: null; problem: string };
    expect(items.map((each: Item) => [each.input, each.target_language, each.problem])).toEqual(
      failedOf(ran),
    );
    for (const { stderr } of [planned, ran]) {
      expect(stderr).toContain('ITEM_CHANGED');
      expect(stderr).toContain('--from auto (en was found) → en-GB');
      expect(stderr).toContain('--clobber');
      expect(stderr).not.toContain('Fix the');
    }
    const status = await vloc.run(['batch', 'status', 'out']);
    expect(status.code, status.stdout).toBe(0);
  });

  it('of localizations, whose service does not say which language it found, is refused with the ways on if a language is stated, and stays done without', async () => {
    const vloc = await openFolder();
    const words = ['localize', 'in', '--to', 'es', '--out', 'out'];
    expect((await vloc.run(words)).code).toBe(0);
    const stated = [...words, '--from', 'en'];
    for (const more of [[], ['--dry-run']]) {
      const { code, stderr } = await vloc.run([...stated, ...more]);
      expect(code, stderr).toBe(2);
      expect(stderr).toContain('--from auto (the service does not say what it found) → en');
      expect(stderr).toContain('To keep the result, run it with the earlier options or with --skip-existing');
      expect(stderr).toContain('--clobber makes a new job that replaces it (its price: --clobber --dry-run)');
    }
    for (const again of [words, [...stated, '--skip-existing']]) {
      const { code, stderr } = await vloc.run(again);
      expect([code, stderr]).toEqual([0, expect.stringContaining('Nothing to do')]);
    }
    const priced = await vloc.run([...stated, '--clobber', '--dry-run', '-o', 'json']);
    expect(JSON.parse(priced.stdout)).toMatchObject({ jobs: 2, quantity: 2 });
  });
});
