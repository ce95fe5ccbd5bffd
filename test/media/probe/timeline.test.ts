import { describe, expect, test } from 'vitest';
import { describePackets } from '../../../src/media/probe/timeline.ts';

/** Packets in the order of decoding: numbers of frames at 25 a second, key frames marked. */
const packets = (...frames: (number | `${number}K`)[]) =>
  frames.map((frame) => ({
    at: Number.parseInt(String(frame), 10) / 25,
    isKey: String(frame).endsWith('K'),
    isHidden: false,
  }));

describe('the picture can be split without decoding', () => {
  test('before a key frame that follows all earlier frames on the screen', () => {
    expect(describePackets(packets('0K', 2, 1, '3K', 5, 4), null).cleanFrames).toEqual([3]);
  });

  test('not before one that is followed by stored frames with earlier times', () => {
    expect(describePackets(packets('0K', 1, '4K', 2, 3, '5K', 6), null).cleanFrames).toEqual([5]);
  });

  test('not where an edit list hides frames', () => {
    const hidden = packets('0K', 1, '2K', 3).map((packet, at) => ({ ...packet, isHidden: at === 0 }));
    expect(describePackets(hidden, null)).toMatchObject({ frames: 3, cleanFrames: [] });
  });
});

describe('the frame rate', () => {
  test.each([
    ['the declared one if the packets agree', 30, { num: 30, den: 1 }, { num: 30, den: 1 }],
    ['that of the packets if they do not', 25, { num: 1000, den: 1 }, { num: 25, den: 1 }],
    ['a television rate if none is declared', 30000 / 1001, null, { num: 30000, den: 1001 }],
  ])('is %s', (_, rate, declared, expected) => {
    const even = Array.from({ length: 300 }, (_, at) => ({
      at: Math.round((at * 1000) / rate) / 1000, // as Matroska rounds
      isKey: at === 0,
      isHidden: false,
    }));
    expect(describePackets(even, declared)).toMatchObject({ frameRate: expected, isConstant: true });
  });

  test('is not constant when a frame is missing', () => {
    const frames = Array.from({ length: 1000 }, (_, at) => (at < 500 ? at : at + 1));
    const even = { num: 25, den: 1 };
    expect(describePackets(packets('0K', ...frames.slice(1)), even)).toMatchObject({
      frameRate: even,
      isConstant: false,
    });
  });
});

test('a video without frames is refused', () => {
  expect(() => describePackets([], null)).toThrow('the video has no frames');
});
