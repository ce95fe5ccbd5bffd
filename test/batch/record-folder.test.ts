import { expect, test } from 'vitest';
import { nameParts, withAbsolutePaths, withPathsFrom } from '../../src/batch/record-folder.ts';

const downloaded = (...paths: string[]) => ({
  type: 'downloaded',
  files: paths.map((path) => ({ path, size: 1 })),
});

test('results below the folder are recorded by relative path, others by absolute path', () => {
  const written = withPathsFrom(
    '/media/out',
    downloaded('/media/out/week 1/a.mp4', '/media/outer/a.mp4', '/b'),
  );
  expect(written).toEqual(downloaded('week 1/a.mp4', '/media/outer/a.mp4', '/b'));
});

test('a record is read relative to the current location of the folder', () => {
  const written = withPathsFrom('/media/out', downloaded('/media/out/..a/b.mp4', '/else/c.mp4'));
  expect(withAbsolutePaths('/moved', written)).toEqual(downloaded('/moved/..a/b.mp4', '/else/c.mp4'));
});

test('absolute paths of earlier versions are kept', () => {
  const old = downloaded('/media/out/a.mp4');
  expect(withAbsolutePaths('/moved', old)).toEqual(old);
});

test('an input in the folder moves along with it, and the path of a request is not a file', () => {
  const input = { type: 'item_facts', path: '/media/talk.mp4' };
  expect(withPathsFrom('/media', input)).toEqual({ type: 'item_facts', path: 'talk.mp4' });
  expect(withAbsolutePaths('/moved', { type: 'item_facts', path: 'talk.mp4' })).toMatchObject({
    path: '/moved/talk.mp4',
  });
  expect(withAbsolutePaths('/moved', { type: 'item_facts', path: null })).toMatchObject({ path: null });
  const call = { type: 'intend', path: '/v1/dubbings' };
  expect(withPathsFrom('/', call)).toEqual(call);
});

test('records of later versions are kept, whatever their files are', () => {
  for (const files of [null, 'a', [null, 1, { name: 'a' }, { path: 1 }]]) {
    const record = { type: 'of-tomorrow', files };
    expect(withAbsolutePaths('/moved', withPathsFrom('/media', record))).toEqual(record);
  }
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
