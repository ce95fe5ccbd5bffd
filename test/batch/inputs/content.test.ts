import { expect, it } from 'vitest';
import { videoType } from '../../../src/batch/inputs/content.ts';

it.each([
  ['\0\0\0\x18ftypisom', 'video/mp4'],
  ['\0\0\0\x14ftypqt  ', 'video/quicktime'],
  ['\0\0\0\x1cftypM4V ', 'video/x-m4v'],
  ['\0\0\0\x08wide\0\0\0\0', 'video/quicktime'],
  ['RIFF\x24\0\0\0AVI LIST', 'video/x-msvideo'],
  ['\0\0\x01\xba\x44\0', 'video/mpeg'],
  ['\0\0\x01\xb3\x14\0', 'video/mpeg'],
  ['RIFF\x24\0\0\0WAVEfmt ', null],
  ['\x1aE\xdf\xa3', null],
  ['1\n', null],
])('recognizes %j as %s', (head, type) => {
  expect(videoType(Buffer.from(head, 'latin1'))).toBe(type);
});
