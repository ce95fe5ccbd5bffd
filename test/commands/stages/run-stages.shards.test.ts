import { expect, test } from 'vitest';
import { shardOf } from '../../../src/batch/records/shard.ts';
import { startStaging } from './staging.ts';

test('shards review their own videos, and a run without shards is refused', async () => {
  const vloc = await startStaging();
  const names = ['talk.mp4', 'week1/other.mp4'];
  for (const name of names) await vloc.addVideo(name);
  const words = ['localize', '.', '--to', 'es', '--stop-after'];
  for (const index of [1, 2]) {
    const own = names.filter((name) => shardOf(name, 2) === index).length;
    const ended = await vloc.run([...words, 'recognize', '--shard', `${index}/2`]);
    expect([ended.code, ended.stderr]).toEqual([
      0,
      expect.stringContaining(`Shard ${index}/2: ${own} of 2 items`),
    ]);
  }
  expect(await vloc.jobs()).toEqual([2, 0, 0, 0]);
  const whole = await vloc.run([...words, 'translate']);
  expect([whole.code, whole.stderr]).toEqual([2, expect.stringContaining('with --shard i/2')]);
  expect(await vloc.jobs()).toEqual([2, 0, 0, 0]);
  // Its subtitles and those of the other shard are not taken for those of somebody else.
  const [name = ''] = names.filter((each) => shardOf(each, 2) === 2);
  const ended = await vloc.run([...words, 'translate', '--shard', '2/2']);
  expect(ended.code, ended.stderr).toBe(0);
  expect(vloc.has(name.replace('.mp4', '.es.srt'))).toBe(true);
  expect(await vloc.jobs()).toEqual([2, 1, 0, 0]);
});
