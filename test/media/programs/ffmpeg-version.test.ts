import { expect, test } from 'vitest';
import { readFfmpegVersion } from '../../../src/media/programs/ffmpeg-version.ts';

test.each([
  ['5.1.6-0+deb12u1', '5.1.6'],
  // Arch.
  ['n7.1.1', '7.1.1'],
  // Builds between two versions.
  ['N-92722-gf22fcd4483', 'N-92722-gf22fcd4483'],
])('the version of ffmpeg %s is read, not that of its compiler', (printed, shown) => {
  const text = `ffprobe version ${printed} Copyright (c) 2000-2024\nbuilt with gcc 14.2.1 (GCC)`;
  expect(readFfmpegVersion(text)).toBe(shown);
});
