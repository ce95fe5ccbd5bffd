import { expect, test } from 'vitest';
import { foldStageRecords } from '../../../src/batch/stages/records.ts';

const AT = '2026-11-21T10:00:00.000Z';
const digest = (digit: string) => digit.repeat(64);
const left = (sha256: string) => ({
  ...{ type: 'stage_subtitle', at: AT, video: 'talk.mp4', role: 'target', language: 'es' },
  ...{ path: 'talk.es.srt', sha256 },
});
const finished = (size: number, made_of: string) => ({
  ...{ type: 'stage_export', at: AT, item: 'key', path: 'talk.es.mp4', size, sha256: digest('c'), made_of },
});

test('of the versions of a subtitle the newest is ours, and the previous one until its replacement is known', () => {
  const [a, b] = [left(digest('a')), left(digest('b'))];
  const ours = (...records: Parameters<typeof foldStageRecords>[0]) => [
    ...(foldStageRecords(records).subtitles.get('talk.es.srt')?.digests ?? []),
  ];
  expect(ours(a)).toEqual([digest('a')]);
  expect(ours(a, { ...a, is_placed: true }, b)).toEqual([digest('a'), digest('b')]);
  expect(ours(a, { ...a, is_placed: true }, b, { ...b, is_placed: true })).toEqual([digest('b')]);
});

test('of a finished video the newest version is used, and every size is known', () => {
  const video = foldStageRecords([finished(1, 'one'), finished(2, 'two')]).finished.get('key');
  expect(video?.newest.made_of).toBe('two');
  expect([...(video?.sizes ?? [])]).toEqual([1, 2]);
});

test('foreign and damaged records are skipped', () => {
  const broken = { ...left('not a digest') };
  const { subtitles: files, finished: videos } = foldStageRecords([{ type: 'intend' }, broken]);
  expect([files.size, videos.size]).toEqual([0, 0]);
});
