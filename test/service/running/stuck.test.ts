/** Errors that come back each time the work in the background records its end. */
import { expect, test } from 'vitest';
import { NEW_JOB, type Scene, sendUpload, startScene, TRANSLATION, until } from '../harness/scene.ts';
import { changeStore } from '../harness/stores.ts';

const SRT = Buffer.from('1\n00:00:00,000 --> 00:00:01,000\nhello\n');

test.each([
  ['charges a job', 'INSERT ON ledger', ({ caller }: Scene) => caller.post(NEW_JOB, TRANSLATION)],
  [
    'records what an upload is',
    'UPDATE OF subtitle ON uploads',
    async ({ caller }: Scene) => {
      const { id, etag } = await sendUpload(caller, SRT, 'subtitle_file');
      await caller.post(`/v1/uploads/${id}/completions`, { etag });
    },
  ],
])('an error that comes back each time the service %s is reported', async (_, change, begin) => {
  const stuck: unknown[] = [];
  const scene = await startScene({ onStuck: (error) => stuck.push(error) });
  changeStore(
    scene.stateDir,
    `CREATE TRIGGER refuse BEFORE ${change} BEGIN SELECT RAISE(ABORT, 'a disk of clay'); END`,
  );
  await begin(scene);
  await until(() => {
    scene.clock.advance(1000);
    return stuck.length > 0;
  });
  expect(String(stuck[0])).toContain('a disk of clay');
});
