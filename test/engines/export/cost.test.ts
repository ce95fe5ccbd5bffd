import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planThreads, requireRoom, thisMachine } from '../../../src/engines/export/cost.ts';
import type { EncodedPicture } from '../../../src/engines/export/picture.ts';

const GIB = 2 ** 30;
const MACHINE = { cores: 2, memory: 16 * GIB };
const DEADLINE = 4 * 3600;

function picture(width: number, height: number, more: Partial<EncodedPicture> = {}): EncodedPicture {
  const source = { width, height };
  return { copy: false, source, size: source, hdr: null, isDeep: false, pixelAspect: 1, ...more };
}
const FULL_HD = picture(1920, 1080);
const UHD = picture(3840, 2160);
const PICTURE_8K = picture(7680, 4320);
const lasting = (seconds: number, frameRate = 30) => ({ seconds, frameRate, allowedSeconds: DEADLINE });

describe('threads', () => {
  test.each([
    ['1080p', FULL_HD, 2, 2],
    ['1080p', FULL_HD, 64, 8],
    ['4K', UHD, 2, 2],
    ['4K', UHD, 64, 8],
    ['4K in HDR', { ...UHD, hdr: 'smpte2084' }, 2, 2],
    ['8K', PICTURE_8K, 2, 1],
    ['8K', PICTURE_8K, 64, 1],
    ['8K in HDR', { ...PICTURE_8K, hdr: 'smpte2084' }, 64, 0],
    ['8K to 1080p', picture(7680, 4320, { size: FULL_HD.size }), 2, 2],
  ] as const)('for %s are as many as fit: %#', (_name, encoded, cores, threads) => {
    expect(planThreads(encoded, { ...MACHINE, cores })).toBe(threads);
  });

  test('never need more for a smaller picture or a larger machine', () => {
    const side = fc.integer({ min: 16, max: 8_000 });
    fc.assert(
      fc.property(side, side, fc.integer({ min: 1, max: 64 }), (width, height, cores) => {
        const own = planThreads(picture(width, height), { ...MACHINE, cores });
        const smaller = planThreads(picture(width / 2, height / 2), { ...MACHINE, cores });
        const larger = planThreads(picture(width, height), { ...MACHINE, cores: cores + 1 });
        expect(Math.min(smaller, larger)).toBeGreaterThanOrEqual(own);
      }),
    );
  });
});

describe('an encoding', () => {
  test.each([
    ['15 minutes of 4K at 60 frames', UHD, lasting(900, 60)],
    ['3 minutes of 8K', PICTURE_8K, lasting(180)],
    ['15 minutes of 1080p on a small machine', FULL_HD, lasting(900)],
    ['10 minutes of 4K in HDR', picture(3840, 2160, { hdr: 'smpte2084' }), lasting(600)],
  ])('of %s fits', (_name, encoded, length) => {
    expect(requireRoom(encoded, { ...MACHINE, memory: 4 * GIB }, length)).toBeGreaterThan(0);
  });

  test('of 15 minutes of 8K is refused because of its time, with the resolution that fits', () => {
    expect(() => requireRoom(PICTURE_8K, MACHINE, lasting(900))).toThrow(
      /7680 × 4320 pixels, 15 min at 30 frames per second, would take about 9 h here.*choose the resolution 1080p/,
    );
    expect(requireRoom({ ...PICTURE_8K, size: FULL_HD.size }, MACHINE, lasting(900))).toBe(2);
  });

  test('of a picture that is too large for the memory is refused as a fault of the media', () => {
    const small = { ...MACHINE, memory: GIB };
    expect(() => requireRoom(UHD, small, lasting(10))).toThrow(
      expect.objectContaining({ code: 'MEDIA_UNSUPPORTED', retryable: false }),
    );
    expect(() => requireRoom(UHD, small)).toThrow('more memory than an export may use here; choose the');
    expect(() => requireRoom(picture(20_000, 20_000), MACHINE)).toThrow('here; leave the picture as it is');
  });

  test('without a deadline has no time limit, and an unknown frame rate counts as 30', () => {
    const length = { seconds: 900, frameRate: 0, allowedSeconds: Number.POSITIVE_INFINITY };
    expect(requireRoom(PICTURE_8K, MACHINE, length)).toBe(1);
    expect(() => requireRoom(PICTURE_8K, MACHINE, { ...length, allowedSeconds: DEADLINE })).toThrow(
      '30 frames per second',
    );
  });
});

test('this machine has memory and the cores of its programs', () => {
  const machine = thisMachine({ parallel: 3 });
  expect(machine.cores).toBe(3);
  expect(machine.memory).toBeGreaterThan(100 * 2 ** 20);
  expect(Number.isFinite(machine.memory)).toBe(true);
});
