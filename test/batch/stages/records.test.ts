import { expect, test } from 'vitest';
import type { FinishedVideo, StageSubtitleRecord } from '../../../src/batch/stages/records.ts';
import { recordsOf } from '../records/support/records-of.ts';

const AT = '2026-11-21T10:00:00.000Z';
const digest = (digit: string) => digit.repeat(64);
const left = (sha256: string): StageSubtitleRecord => ({
  type: 'stage_subtitle',
  at: AT,
  video: 'talk.mp4',
  role: 'target',
  language: 'es',
  path: 'talk.es.srt',
  sha256,
});
const finished = (size: number, made_of: string): FinishedVideo => ({
  type: 'stage_export',
  at: AT,
  item: 'key',
  path: 'talk.es.mp4',
  size,
  sha256: digest('c'),
  made_of,
  source: null,
  target: null,
  target_lines: null,
});

test('the newest version of a subtitle is ours, and the previous one until its replacement is known', () => {
  const [a, b] = [left(digest('a')), left(digest('b'))];
  const ours = (...records: readonly StageSubtitleRecord[]) => [
    ...(recordsOf(records).stages.subtitles.get('talk.es.srt')?.digests ?? []),
  ];
  const elsewhere = { ...b, path: 'talk.fr.srt' };
  expect(ours(elsewhere, a)).toEqual([digest('a')]);
  expect(ours(a, { ...a, is_placed: true }, b)).toEqual([digest('a'), digest('b')]);
  expect(ours(a, { ...a, is_placed: true }, b, { ...b, is_placed: true })).toEqual([digest('b')]);
});

test('the newest version of a finished video is used, and every size is known', () => {
  const video = recordsOf([
    { ...finished(3, 'three'), item: 'other' },
    finished(1, 'one'),
    finished(2, 'two'),
  ]).stages.finished.get('key');
  expect(video?.newest.made_of).toBe('two');
  expect([...(video?.sizes ?? [])]).toEqual([1, 2]);
});
