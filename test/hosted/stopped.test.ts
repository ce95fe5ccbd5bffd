/** Ctrl-C while the service has a job of which the run knows nothing yet. */
import { expect, test } from 'vitest';
import { openMinimal } from './run-hosted.ts';

test('Ctrl-C before the answer to a create does not say that nothing is charged, and the same command continues that job', async () => {
  const { hosted, run, interrupt } = await openMinimal();
  const answer = Promise.withResolvers<void>();
  hosted.meet = async (at) => {
    if (at !== 'answer' || hosted.jobs.size === 0) return;
    interrupt();
    await answer.promise;
  };
  const words = ['translate', 'talk.srt', '--from', 'en', '--to', 'es', '--out', 'out'];
  const stopped = await run(words);
  answer.resolve();
  hosted.meet = async () => {};
  expect([stopped.code, hosted.jobs.size]).toEqual([130, 1]);
  expect(stopped.stderr).toContain(
    'Stopped before the service confirmed a job. If it has one, the command below continues it; nothing is charged twice.\n' +
      `Continue with:\n  vloc ${words.join(' ')}\n`,
  );
  const status = await run(['batch', 'status', 'out', '-o', 'plain', '--fields', 'state']);
  expect(status.stdout).toBe('unanswered\n');
  const again = await run(words);
  expect([again.code, hosted.jobs.size], again.stderr).toEqual([0, 1]);
});
