import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { encoderArguments } from '../../../src/media/encode/encoders.ts';
import { mostThreads, planPicture, scaledSize, whiteOf } from '../../../src/media/encode/picture.ts';
import { parseHeader } from '../../../src/media/probe/facts.ts';

function header(
  codec_name: string,
  format_name = 'mov,mp4,m4a,3gp,3g2,mj2',
  width = 1921,
  height = 1081,
  more: object = {},
) {
  const streams = [{ index: 0, codec_type: 'video', codec_name, width, height, ...more }];
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
  test('is copied if nothing has to be done to it', () => {
    expect(planPicture(header('h264'), 'source', false)).toMatchObject({ copy: true });
    expect(planPicture(header('hevc'), '1080p', false).copy).toBe(false);
    expect(planPicture(header('h264', 'mov,mp4', 640, 360), '1080p', false)).toMatchObject({ copy: true });
  });

  test('is encoded with even sides to burn subtitles in, or if an MP4 cannot contain it', () => {
    const size = { width: 1920, height: 1080 };
    const encoded = { copy: false, size, hdr: null, isDeep: false, pixelAspect: 1 };
    expect(planPicture(header('h264'), 'source', true)).toEqual(encoded);
    expect(planPicture(header('dvvideo', 'avi'), 'source', false)).toEqual(encoded);
    const reordered = header('h264', 'avi', 1921, 1081, { has_b_frames: 2 });
    expect(planPicture(reordered, 'source', false)).toEqual(encoded);
    expect(planPicture(header('prores'), 'source', false)).toEqual(encoded);
  });
});

test.each([
  ['1080p', 1920, 1080, null, 8],
  ['1080p in HDR', 1920, 1080, 'smpte2084', 8],
  ['4K', 4096, 2160, null, 8],
  ['4K in HDR', 3840, 2160, 'arib-std-b67', 3],
  ['8K', 7680, 4320, null, 1],
] as const)('%s is encoded with as many threads as fit into memory', (_name, width, height, hdr, threads) => {
  expect(mostThreads({ copy: false, size: { width, height }, hdr, isDeep: false, pixelAspect: 1 })).toBe(
    threads,
  );
});

describe('a picture in HDR', () => {
  const plan = (more: object, burned = true) => {
    const picture = planPicture(header('hevc', 'mov,mp4', 3840, 2160, more), 'source', burned);
    if (picture.copy) throw new Error('it is copied');
    return picture;
  };

  test.each([
    ['smpte2084', 148],
    ['arib-std-b67', 191],
  ] as const)('with %s stays in HDR and keeps its label, with text of 203 cd/m²', (transfer, white) => {
    const picture = plan({ color_transfer: transfer });
    const args = encoderArguments(picture, 2).join(' ');
    expect(args).toContain('yuv420p10le');
    expect(args).toContain(`-color_trc ${transfer}`);
    expect(whiteOf(picture)).toBe(white);
  });

  test('is not recognized by its codec alone', () => {
    const picture = plan({ color_transfer: 'bt709' });
    expect(encoderArguments(picture, 2).join(' ')).toContain('yuv420p ');
    expect(whiteOf(picture)).toBe(255);
  });

  test('in Dolby Vision is refused if it has no base layer that can be decoded, unless it is copied', () => {
    const own = { color_transfer: 'smpte2084', side_data_list: [{ dv_profile: 5 }] };
    expect(() => plan(own)).toThrow('Dolby Vision profile 5');
    expect(plan({ ...own, side_data_list: [{ dv_profile: 8 }] }).hdr).toBe('smpte2084');
    expect(planPicture(header('hevc', 'mov,mp4', 3840, 2160, own), 'source', false)).toMatchObject({
      copy: true,
    });
  });
});
