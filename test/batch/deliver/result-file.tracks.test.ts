import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { claimPlace, type OutputRows, publish } from '../../../src/batch/deliver/publish.ts';
import {
  type AddTracks,
  makeOfDownload,
  removeScratch,
  withTracks,
} from '../../../src/batch/deliver/result-file.ts';
import { makeFolder } from '../../support/make-folder.ts';

function setUp() {
  const root = makeFolder();
  const at = (name: string) => join(root, name);
  writeFileSync(at('talk.mp4'), 'the original');
  const { size: bytes, mtimeMs } = statSync(at('talk.mp4'));
  const steps: string[] = [];
  const add: AddTracks = async ({ video, source, audio, subtitles }, { folder }) => {
    steps.push(`add ${audio ? 'audio' : ''}${subtitles ? 'subtitles' : ''}`);
    expect(readdirSync(folder)).toEqual([]);
    writeFileSync(
      join(folder, 'made.mp4'),
      `${readFileSync(video, 'utf8')} with ${readFileSync(source?.path ?? '', 'utf8')}`,
    );
    return join(folder, 'made.mp4');
  };
  const write = async (more: { readonly add?: AddTracks; readonly overwrite?: boolean } = {}) => {
    const target = at('talk.es.mp4');
    const rows: OutputRows = {
      find: async () => [],
      async add(files) {
        expect(existsSync(target)).toBe(more.overwrite === true);
        steps.push(...files.map(({ size }) => `record ${size}`));
      },
    };
    const placing = { rows, overwrite: more.overwrite === true };
    await claimPlace(target, placing);
    const source = { path: at('talk.mp4'), bytes, mtimeMs, track: 1, language: null };
    const { from, ...written } = await makeOfDownload({
      target,
      name: 'result.mp4',
      isResult: async (path) => existsSync(path) && readFileSync(path, 'utf8') === 'the result',
      fetch: async (to) => {
        steps.push('fetch');
        writeFileSync(to, 'the result');
      },
      make: withTracks({ tracks: 'audio', source }, more.add ?? add, new AbortController().signal),
    });
    const { bytes: size, sha256 } = written;
    await publish([{ from, file: { path: target, size, sha256 } }], placing, () => removeScratch(target));
    return written;
  };
  return { at, add, write, steps };
}

const MADE = 'the result with the original';

test('a video is recorded with its tracks, and then gets its name', async () => {
  const { at, write, steps } = setUp();
  expect(await write()).toMatchObject({
    bytes: MADE.length,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(readFileSync(at('talk.es.mp4'), 'utf8')).toBe(MADE);
  expect(steps).toEqual(['fetch', 'add audio', `record ${MADE.length}`]);
  expect(readdirSync(at('.')).sort()).toEqual(['talk.es.mp4', 'talk.mp4']);
});

test('what a killed run has fetched is not fetched again, and its unfinished files are not used', async () => {
  const { at, write, steps } = setUp();
  const killed: AddTracks = async (_task, { folder }) => {
    writeFileSync(join(folder, 'made.mp4'), 'half');
    throw new Error('killed');
  };
  await expect(write({ add: killed })).rejects.toThrow('killed');
  expect(existsSync(at('talk.es.mp4'))).toBe(false);
  await write();
  expect(readFileSync(at('talk.es.mp4'), 'utf8')).toBe(MADE);
  expect(steps).toEqual(['fetch', 'add audio', `record ${MADE.length}`]);
});

test('an existing file is refused before anything is fetched, unless it may be replaced', async () => {
  const { at, write, steps } = setUp();
  writeFileSync(at('talk.es.mp4'), 'mine');
  await expect(write()).rejects.toMatchObject({ facts: { code: 'TARGET_EXISTS' } });
  expect(steps).toEqual([]);
  await write({ overwrite: true });
  expect(readFileSync(at('talk.es.mp4'), 'utf8')).toBe(MADE);
});

test('a source that was deleted is not used, and the message names where the result is', async () => {
  const { at, write } = setUp();
  rmSync(at('talk.mp4'));
  await expect(write()).rejects.toMatchObject({
    facts: {
      code: 'TRACKS_NOT_ADDED',
      message: expect.stringContaining('no longer exists'),
      advice: expect.stringContaining(at('.talk.es.mp4.add/result.mp4')),
    },
  });
  expect(readFileSync(at('.talk.es.mp4.add/result.mp4'), 'utf8')).toBe('the result');
});
