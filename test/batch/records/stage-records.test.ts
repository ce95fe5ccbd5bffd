import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BatchRecord } from '../../../src/batch/records/batch-records.ts';
import type { OutputsRecord } from '../../../src/batch/records/outputs.ts';
import type { FinishedVideo } from '../../../src/batch/records/stage-records.ts';
import { recordsOf } from './support/records-of.ts';

const AT = '2026-11-21T10:00:00.000Z';
const digest = (digit: string) => digit.repeat(64);
const left = (sha256: string, path = 'talk.es.srt'): OutputsRecord => ({
  ...{ type: 'outputs', item: 'talk.mp4', step: 'target', language: 'es', made: sha256 },
  files: [{ path: join('/media/out', path), sha256, size: 1 }],
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
  const ours = (...records: readonly BatchRecord[]) => [
    ...(recordsOf(records).stages.subtitles.get('talk.es.srt')?.digests ?? []),
  ];
  const placed = (outputs: OutputsRecord) => ({ ...outputs, is_placed: true }) as const;
  const elsewhere = left(digest('b'), 'talk.fr.srt');
  expect(ours(elsewhere, a)).toEqual([digest('a')]);
  expect(ours(a, placed(a), b)).toEqual([digest('a'), digest('b')]);
  expect(ours(a, placed(a), b, placed(b))).toEqual([digest('b')]);
});

test('the newest version of a finished video is used', () => {
  const video = recordsOf([
    { ...finished(3, 'three'), item: 'other' },
    finished(1, 'one'),
    finished(2, 'two'),
  ]).stages.finished.get('key');
  expect(video?.made_of).toBe('two');
});
