import { expect, test } from 'vitest';
import { nameParts } from '../../../src/batch/records/record-folder.ts';
import { RECORDS } from './support/attempts.ts';
import { recordsOf } from './support/records-of.ts';

test('paths below the folder move along with it, and others stay', () => {
  const files = ['/media/out/week 1/a.mp4', '/media/outer/a.mp4', '/media/out/..a/b.mp4'].map((path) => ({
    path,
    sha256: 'a'.repeat(64),
    size: 1,
  }));
  const records = [RECORDS.asked({ key: 'k' }), { ...RECORDS.downloaded({ key: 'k' }), files }];
  const moved = recordsOf(records, { folder: '/media/out', readIn: '/moved' }).attempts.byKey.get('k');
  expect(moved?.files.map(({ path }) => path)).toEqual([
    '/moved/week 1/a.mp4',
    '/media/outer/a.mp4',
    '/moved/..a/b.mp4',
  ]);
});

const file = (path: string) => ({ path, sha256: 'a'.repeat(64), size: 1 });

test('files without a name are the parts of the kind in their order', () => {
  const files = ['a.wav', 'b.wav', 'c.wav'].map(file);
  expect(nameParts('audio_separation', files).map(({ asset }) => asset)).toEqual([
    'vocal_audio',
    'background_audio',
    null,
  ]);
});

test('a recorded name takes precedence over the order', () => {
  const files = [{ ...file('b.wav'), asset: 'background_audio' }, file('a.wav')];
  expect(nameParts('audio_separation', files).map(({ asset }) => asset)).toEqual([
    'background_audio',
    'background_audio',
  ]);
});
