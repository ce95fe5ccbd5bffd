import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { displaySize, parseHeader } from '../../../src/media/probe/facts.ts';
import { containerName } from '../../../src/media/probe/inspect.ts';
import { PreparationFailure } from '../../../src/media/programs/failures.ts';

const format = { format_name: 'mov,mp4,m4a,3gp,3g2,mj2', duration: '3', tags: { major_brand: 'isom' } };

describe('the header of a video', () => {
  test('does not count a cover image as moving picture', () => {
    const cover = { index: 0, codec_type: 'video', codec_name: 'mjpeg', disposition: { attached_pic: 1 } };
    expect(parseHeader(JSON.stringify({ format, streams: [cover] })).video).toBeNull();
    const film = { index: 1, codec_type: 'video', codec_name: 'h264' };
    expect(parseHeader(JSON.stringify({ format, streams: [cover, film] })).video?.index).toBe(1);
  });

  test('does not count the time before the first picture, which the length of an MP4 contains and that of an MPEG does not', () => {
    const late = { ...format, duration: '3603', start_time: '3600' };
    expect(parseHeader(JSON.stringify({ format: late, streams: [] })).duration).toBe(3);
    const recorded = { ...late, format_name: 'mpeg', duration: '3' };
    expect(parseHeader(JSON.stringify({ format: recorded, streams: [] })).duration).toBe(3);
  });

  test('has the size as shown', () => {
    const side_data_list = [{}, { rotation: -90 }];
    const phone = { index: 0, codec_type: 'video', width: 1920, height: 1080, side_data_list };
    const { video } = parseHeader(JSON.stringify({ format, streams: [phone] }));
    expect(video && displaySize(video)).toEqual({ width: 1080, height: 1920 });
  });

  test.each([
    ['isom', 'mp4'],
    ['qt  ', 'mov'],
    ['M4V ', 'm4v'],
    ['', 'mov'],
  ])('with the brand "%s" is one of %s', (major_brand, name) => {
    const header = parseHeader(JSON.stringify({ format: { ...format, tags: { major_brand } }, streams: [] }));
    expect(containerName(header)).toBe(name);
  });

  test('is read or refused with a typed failure, whatever it contains', () => {
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      fc.anything().map((value) => JSON.stringify({ format, streams: value })),
    );
    fc.assert(
      fc.property(anything, (text) => {
        try {
          parseHeader(text ?? '');
        } catch (error) {
          expect(error).toBeInstanceOf(PreparationFailure);
        }
      }),
    );
  });
});
