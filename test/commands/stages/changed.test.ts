/** Finished localizations in stages that are run again with another language of the source. */
import { rename } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { linesOf } from '../support/run-vloc.ts';
import { startStaging } from './staging.ts';

it('a localization in stages is done for a command that states the language that was found, and refused by plan and run with the same words for another one', async () => {
  const vloc = await startStaging();
  await vloc.addVideo('in/a.mp4');
  const words = ['localize', 'in', '--to', 'es', '--out', 'out', '--stop-after', 'translate'];
  const first = await vloc.run(words);
  expect(first.code, first.stderr).toBe(0);
  const found = [...words, '--from', 'en'];
  const done = JSON.parse((await vloc.run([...found, '--dry-run', '-o', 'json'])).stdout);
  expect([done.jobs, done.not_usable]).toEqual([0, []]);
  expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);

  await rename(vloc.path('talk.mp4'), vloc.path('in/b.mp4'));
  const other = [...words, '--from', 'en-GB'];
  const planned = await vloc.run([...other, '--dry-run', '-o', 'json']);
  const plan = JSON.parse(planned.stdout);
  const ran = await vloc.run([...other, '-o', 'ndjson']);
  const failed = linesOf(ran.stdout).filter(({ type }) => type === 'failed');
  expect(plan.not_usable).toEqual([
    expect.objectContaining({ input: 'in/a.mp4', target_language: 'es', problem: failed[0]?.message }),
  ]);
  expect(failed).toHaveLength(1);
  expect(failed[0]?.message).toContain('--from auto (en was found) → en-GB');
  for (const { code, stderr } of [planned, ran]) {
    expect(code, stderr).toBe(3);
    expect(stderr).toContain('--clobber');
    expect(stderr).toContain('--out');
    expect(stderr).not.toContain('Fix the');
  }
  // Only the new video.
  expect(plan.jobs).toBe(2);
  expect((await vloc.jobs())[0]).toBe(2);
  const status = await vloc.run(['batch', 'status', 'out']);
  expect(status.code, status.stdout).toBe(0);
});
