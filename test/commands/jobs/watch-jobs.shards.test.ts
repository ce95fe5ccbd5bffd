import { expect, test } from 'vitest';
import { shardOf } from '../../../src/batch/records/shard.ts';
import { openInbox, untilTold } from '../support/open-inbox.ts';

test('a shard that watches processes its own files, including later ones', async () => {
  const names = [1, 2, 3, 4, 5, 6].map((lesson) => `lesson-${lesson}.srt`);
  const own = names.filter((name) => shardOf(name, 2) === 1);
  const [first = '', ...others] = names.toSorted((name) => (own.includes(name) ? 1 : -1));
  expect([own.length > 1, own.includes(first)]).toEqual([true, false]);
  const scene = await openInbox();
  await scene.put(first);
  const watch = await scene.watch(['--shard', '1/2']);
  watch.goOn();
  for (const name of others) await scene.put(name);
  for (const name of own) await untilTold(watch, name.replace('.srt', '.es.srt'));
  const { code, stderr } = await watch.stop();
  expect([code, stderr]).toEqual([130, expect.stringContaining(`Stopped watching: ${own.length} done.`)]);
  expect(stderr).toContain('Watching inbox: the files of shard 1/2 are processed as they arrive');
  expect(stderr).not.toContain('Skipped');
  expect(await scene.countJobs()).toBe(own.length);
});
