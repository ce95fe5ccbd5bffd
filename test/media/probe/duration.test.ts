import { describe, expect, test } from 'vitest';
import { parseHeader } from '../../../src/media/probe/facts.ts';
import { breaksOffAt, measuredDuration } from '../../../src/media/probe/packets.ts';

function header(container: string, video: string, audio: string) {
  return parseHeader(
    JSON.stringify({
      format: { format_name: 'mov,mp4', duration: container },
      streams: [
        { index: 0, codec_type: 'video', codec_name: 'h264', duration: video },
        { index: 1, codec_type: 'audio', codec_name: 'aac', duration: audio },
      ],
    }),
  );
}

function packets(videoEnd: number, audioEnd: number, first = 0) {
  return { first, video: { at: videoEnd - 0.04, lasts: 0.04 }, audio: { at: audioEnd - 0.02, lasts: 0.02 } };
}

describe('the measured duration', () => {
  test.each([
    ['the largest that the header declares', header('10', '10', '10.02'), packets(10, 10.02), 10.02],
    ['not lengthened by the delay of an encoder', header('900', '900', '900'), packets(900.08, 900.043), 900],
    ['that of the packets if the header is wrong', header('10', '10', '10'), packets(1_000, 10), 1_000],
    ['that of the packets if the header has none', header('', '', ''), packets(5, 5.1), 5.1],
    ['counted from the first packet', header('10', '10', '10'), packets(12, 12, 2), 10],
  ])('is %s', (_, declared, measured, expected) => {
    expect(measuredDuration(declared, measured)).toBeCloseTo(expected, 6);
  });
});

describe('a file that was cut off', () => {
  test('is detected by packets that end before the header says', () => {
    expect(breaksOffAt(60, { at: 30, lasts: 0.04 }, 0)).toBeCloseTo(30.04);
    expect(breaksOffAt(60, null, 0)).toBe(0);
  });

  test('is not one that lacks less than a second or a twentieth', () => {
    expect(breaksOffAt(3, { at: 2.2, lasts: 0.04 }, 0)).toBeNull();
    expect(breaksOffAt(600, { at: 590, lasts: 0.04 }, 0)).toBeNull();
    expect(breaksOffAt(null, null, 0)).toBeNull();
  });
});
