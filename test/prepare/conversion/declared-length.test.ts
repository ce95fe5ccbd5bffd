import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readDeclaredLength } from '../../../src/prepare/conversion/declared-length.ts';
import { ffmpeg, temporaryFolder } from '../../engines/workspace.ts';
import { makeVideo } from '../workspace.ts';

const WMV = ['-c:v', 'wmv2', '-c:a', 'wmav2'];
const AVI = ['-c:v', 'mpeg4', '-c:a', 'mp3'];

test.each([
  ['old.avi', 'avi', AVI],
  ['office.wmv', 'asf', WMV],
])('%s says how long it was, also when only its beginning is there', async (name, demuxer, codecs) => {
  const path = makeVideo(temporaryFolder(), name, 4, ...codecs);
  truncateSync(path, 20_000);
  expect(Math.abs(((await readDeclaredLength(path, demuxer)) ?? 0) - 4)).toBeLessThan(0.15);
});

test('a recording that was never closed says nothing', async () => {
  const folder = temporaryFolder();
  const path = makeVideo(folder, 'old.avi', 2, ...AVI);
  const bytes = readFileSync(path);
  // The number of frames is written at the end.
  bytes.writeUInt32LE(0, 48);
  writeFileSync(path, bytes);
  expect(await readDeclaredLength(path, 'avi')).toBeNull();
  const live = join(folder, 'live.wmv');
  ffmpeg('-i', path, ...WMV, '-f', 'asf_stream', live);
  expect(await readDeclaredLength(live, 'asf')).toBeNull();
});

test('what is too short to be a header says nothing, and others are asked in another way', async () => {
  const path = join(temporaryFolder(), 'torn.avi');
  writeFileSync(path, 'RIFF....AVI LIST....hdrlavih');
  expect(await readDeclaredLength(path, 'avi')).toBeNull();
  expect(await readDeclaredLength(path, 'asf')).toBeNull();
  expect(await readDeclaredLength(path, 'matroska,webm')).toBeNull();
});
