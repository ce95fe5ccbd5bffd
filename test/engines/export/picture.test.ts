import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planPicture, scaledSize } from '../../../src/engines/export/picture.ts';
import { parseHeader } from '../../../src/engines/media/header.ts';

function header(codec_name: string, format_name = 'mov,mp4,m4a,3gp,3g2,mj2', width = 1921, height = 1081) {
  const streams = [{ index: 0, codec_type: 'video', codec_name, width, height }];
  return parseHeader(JSON.stringify({ format: { format_name }, streams }));
}

describe('a named resolution', () => {
  test.each([
    [{ width: 1920, height: 1080 }, '720p', { width: 1280, height: 720 }],
    [{ width: 1080, height: 1920 }, '720p', { width: 720, height: 1280 }],
    [{ width: 1440, height: 1080 }, '480p', { width: 640, height: 480 }],
    [{ width: 640, height: 360 }, '1080p', null],
    [{ width: 1280, height: 720 }, '720p', null],
    [{ width: 1920, height: 1080 }, 'source', null],
  ] as const)('makes %j at %s into %j', (shown, resolution, size) => {
    expect(scaledSize(shown, resolution)).toEqual(size);
  });

  test('never makes a picture larger, and its sides are even', () => {
    const side = fc.integer({ min: 16, max: 8_000 });
    fc.assert(
      fc.property(side, side, fc.constantFrom('1080p', '720p', '480p'), (width, height, resolution) => {
        const size = scaledSize({ width, height }, resolution);
        if (size === null) return;
        expect([size.width % 2, size.height % 2]).toEqual([0, 0]);
        expect(size.width).toBeLessThanOrEqual(width);
        expect(size.height).toBeLessThanOrEqual(height);
      }),
    );
  });
});

describe('the picture', () => {
  test('is copied when nothing has to be done to it', () => {
    expect(planPicture(header('h264'), 'source', false)).toEqual({ copy: true });
    expect(planPicture(header('hevc'), '1080p', false).copy).toBe(false);
    expect(planPicture(header('h264', 'mov,mp4', 640, 360), '1080p', false)).toEqual({ copy: true });
  });

  test('is encoded with even sides to burn subtitles in, or when an MP4 cannot hold it', () => {
    const encoded = { copy: false, size: { width: 1920, height: 1080 } };
    expect(planPicture(header('h264'), 'source', true)).toEqual(encoded);
    expect(planPicture(header('mpeg2video', 'mpeg'), 'source', false)).toEqual(encoded);
    expect(planPicture(header('h264', 'avi'), 'source', false)).toEqual(encoded);
    expect(planPicture(header('prores'), 'source', false)).toEqual(encoded);
  });
});
