import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planJobs } from '../../../src/commands/job/job-plan.ts';
import { createTestIo } from '../../support/test-io.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vloc-plan-'));
  for (const name of ['a.mp4', 'b.mp4', 'a.mov', 'a.es.mp4']) writeFileSync(join(folder, name), 'x');
});
afterAll(() => rmSync(folder, { recursive: true }));

const plan = (operands: string[], options: Record<string, unknown>) =>
  planJobs('auto_localization', operands, options, createTestIo({ cwd: folder }).io);

async function problemsOf(planned: Promise<unknown>): Promise<string[]> {
  const failure = await planned.then(
    () => null,
    (error) => error,
  );
  return (failure?.facts?.errors ?? []).map(
    (error: { pointer: string; detail: string }) => `${error.pointer}: ${error.detail}`,
  );
}

describe('a plan', () => {
  it('makes a job for each input and language, and each language once', async () => {
    const { jobs } = await plan(['b.mp4', 'a.mov'], {
      to: ['ca', 'pt-br', 'pt-BR'],
      out: join(folder, 'out'),
    });
    expect(jobs.map((job) => [job.input.label, job.targetLanguage])).toEqual([
      ['b.mp4', 'ca'],
      ['b.mp4', 'pt-BR'],
      ['a.mov', 'ca'],
      ['a.mov', 'pt-BR'],
    ]);
  });

  it('passes options on as fields, and what --set names without judging it', async () => {
    const options = { to: ['ca'], from: 'en', subtitleOutput: 'soft', set: { tone: 'formal' } };
    const { jobs } = await plan(['a.mp4'], options);
    expect(jobs[0]?.fields).toEqual({
      source_language: 'en',
      subtitle_output: 'soft',
      target_language: 'ca',
      tone: 'formal',
    });
  });

  it('needs a target language', async () => {
    expect(await problemsOf(plan(['a.mp4'], { to: [] }))).toEqual([expect.stringContaining('--to: missing')]);
  });

  it('finds two inputs that would write the same file', async () => {
    const problems = await problemsOf(plan(['a.mp4', 'a.mov'], { to: ['ca'] }));
    expect(problems).toEqual([expect.stringMatching(/^a\.mov: would write .*a\.ca\.mp4, as a\.mp4 does/)]);
  });

  it('finds a result that is there already', async () => {
    expect(await problemsOf(plan(['a.mp4'], { to: ['es'] }))).toEqual([
      expect.stringMatching(/a\.es\.mp4: exists; --clobber/),
    ]);
  });

  it('replaces it with --clobber and leaves it out with --skip-existing', async () => {
    expect((await plan(['a.mp4'], { to: ['es'], clobber: true })).jobs).toHaveLength(1);
    const skipping = await plan(['a.mp4'], { to: ['es', 'ca'], skipExisting: true });
    expect(skipping.jobs.map((job) => job.targetLanguage)).toEqual(['ca']);
    expect(skipping.skipped).toEqual([join(folder, 'a.es.mp4')]);
  });

  it.each([
    [{ callbackUrl: 'http://example.com' }, '--callback-url: must be an https address'],
    [{ clientReference: 'x'.repeat(129) }, '--client-reference: at most 128 characters'],
    [{ from: 'not a tag' }, '--from'],
  ])('checks the fields before anything is sent: %j', async (options, said) => {
    const problems = await problemsOf(plan(['b.mp4'], { to: ['ca'], ...options }));
    expect(problems.join('\n')).toContain(said);
  });
});
