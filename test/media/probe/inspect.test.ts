import { copyFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { inspectVideo } from '../../../src/media/probe/inspect.ts';
import { ffmpeg, programs, SAMPLE } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { forgeDurations } from '../forged-mp4.ts';

const signal = new AbortController().signal;
const inspect = (file: string) => inspectVideo(programs, file, { signal, folder: makeFolder() });
const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=s=160x90:r=10:d=1'];
const SOUND = ['-f', 'lavfi', '-i', 'sine=d=1'];

describe('inspecting a video', () => {
  test('measures the sample, by its content and not by its name, which may be like an option', async () => {
    const file = join(makeFolder(), '-i http:%d.avi');
    copyFileSync(SAMPLE, file);
    expect(await inspect(file)).toEqual({
      duration_seconds: 30.76,
      container: 'mp4',
      video: { codec: 'h264', width: 640, height: 360, frame_rate: 25 },
      audio: { codec: 'aac', sample_rate: 48_000, channels: 2 },
    });
  });

  test('accepts an AVI', async () => {
    const file = join(makeFolder(), 'a.avi');
    ffmpeg(...PICTURE, ...SOUND, '-c:v', 'mpeg4', '-c:a', 'mp3', '-ar', '44100', file);
    const media = await inspect(file);
    expect(media.container).toBe('avi');
    expect(media.duration_seconds).toBeGreaterThan(0.9);
    expect(media.duration_seconds).toBeLessThan(1.2);
  });

  test('refuses a video without sound, and sound with only a cover image', async () => {
    const folder = makeFolder();
    ffmpeg(...PICTURE, join(folder, 'silent.mp4'));
    await expect(inspect(join(folder, 'silent.mp4'))).rejects.toMatchObject({ code: 'NO_AUDIO_STREAM' });
    const cover = ['-f', 'lavfi', '-i', 'color=red:s=64x64:d=1:r=1', '-frames:v', '1', '-c:v', 'mjpeg'];
    const song = join(folder, 'song.mp4');
    ffmpeg(...SOUND, ...cover, '-c:a', 'aac', '-disposition:v:0', 'attached_pic', song);
    await expect(inspect(song)).rejects.toMatchObject({ code: 'MEDIA_UNSUPPORTED' });
  });

  test('says what is wrong with the header of an MP4, and does not advise to convert it to MP4', async () => {
    const file = join(makeFolder(), 'a.mp4');
    const codecs = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-c:a', 'aac'];
    ffmpeg(...PICTURE, ...SOUND, ...codecs, '-movflags', '+frag_keyframe+empty_moov', file);
    const bytes = readFileSync(file);
    // Without this box ffmpeg cannot read the fragments.
    bytes.write('free', bytes.indexOf('trex'), 'latin1');
    writeFileSync(file, bytes);
    await expect(inspect(file)).rejects.toThrow(
      'the header of the video cannot be read (trun track id unknown, no tfhd was found); copy, download or export it again',
    );
  });

  test.each([
    ['mp4', 'h264', 'aac'],
    ['mpeg', 'mpeg2video', 'mp2'],
  ])(
    'accepts %s, and does not count the time before the first picture of a clock that shows an hour',
    async (container, picture, sound) => {
      const file = join(makeFolder(), `late.${container}`);
      const coded = ['-r', '25', '-pix_fmt', 'yuv420p', '-c:v', picture];
      ffmpeg(...PICTURE, ...SOUND, ...coded, '-c:a', sound, '-output_ts_offset', '3600', file);
      const { duration_seconds, container: found } = await inspect(file);
      expect(found).toBe(container);
      expect(duration_seconds).toBeGreaterThan(0.9);
      expect(duration_seconds).toBeLessThan(1.2);
    },
  );

  test.each([0, 500])('refuses joined recordings whose clock jumps, to %d s', async (offset) => {
    const folder = makeFolder();
    const parts = ['0', String(offset)].map((start, at) => {
      const part = join(folder, `${at}.mpg`);
      const coded = ['-r', '25', '-c:v', 'mpeg2video', '-c:a', 'mp2', '-output_ts_offset', start];
      ffmpeg(...PICTURE, ...SOUND, ...coded, '-f', 'vob', part);
      return readFileSync(part);
    });
    const file = join(folder, 'joined.mpg');
    writeFileSync(file, Buffer.concat(parts));
    await expect(inspect(file)).rejects.toMatchObject({
      code: 'MEDIA_CORRUPT',
      message: expect.stringMatching(/the clock of the video jumps from 1\.\d s to \d+\.\d s/),
    });
  });

  test('a deleted file is not a fault of the media', async () => {
    await expect(inspect('/nowhere/a.mp4')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('the limit of 15 minutes', () => {
  const silence = (seconds: number, rate: number) => [
    ...['-f', 'lavfi', '-i', `anullsrc=r=${rate}:cl=mono:d=${seconds}`],
  ];

  test('admits 900.000 s and refuses 900.001 s', async () => {
    const folder = makeFolder();
    // PCM has no frames to pad, so that the end is exact to the millisecond.
    const make = (file: string, seconds: number) =>
      ffmpeg(...PICTURE, ...silence(seconds, 1000), '-c:v', 'mjpeg', '-c:a', 'pcm_s16le', file);
    make(join(folder, 'exact.mov'), 900);
    expect((await inspect(join(folder, 'exact.mov'))).duration_seconds).toBe(900);
    make(join(folder, 'over.mov'), 900.001);
    await expect(inspect(join(folder, 'over.mov'))).rejects.toMatchObject({ code: 'DURATION_EXCEEDED' });
  });

  test('cannot be evaded by a header that declares 10 s for 1,000', async () => {
    const file = join(makeFolder(), 'forged.mp4');
    const picture = ['-f', 'lavfi', '-i', 'color=black:s=16x16:r=1/10:d=1000'];
    // Also where a late start is declared, which is not part of the length.
    for (const start of ['0', '990']) {
      const codecs = ['-c:v', 'mpeg4', '-c:a', 'aac', '-output_ts_offset', start];
      ffmpeg(...picture, ...silence(10, 8000), ...codecs, file);
      const bytes = readFileSync(file);
      forgeDurations(bytes, 10);
      writeFileSync(file, bytes);
      await expect(inspect(file)).rejects.toMatchObject({ code: 'DURATION_EXCEEDED' });
    }
  });
});

describe('a damaged video', () => {
  let whole = Buffer.alloc(0);
  beforeAll(() => {
    whole = readFileSync(SAMPLE);
  });

  test('that was cut off says where it breaks off', async () => {
    const file = join(makeFolder(), 'cut.mp4');
    writeFileSync(file, whole);
    truncateSync(file, Math.floor(statSync(file).size / 2));
    await expect(inspect(file)).rejects.toMatchObject({
      code: 'MEDIA_CORRUPT',
      message: expect.stringMatching(/breaks off at 1\d\.\d s of 30\.\d s/),
    });
  });

  test('that lacks only its last bytes is refused, although its index is complete', async () => {
    const file = join(makeFolder(), 'cut.mp4');
    writeFileSync(file, whole);
    truncateSync(file, whole.length - 1000);
    await expect(inspect(file)).rejects.toMatchObject({
      code: 'MEDIA_CORRUPT',
      message: expect.stringContaining('the last 1000 bytes of the video are missing'),
    });
  });

  test('without an index is refused', async () => {
    const file = join(makeFolder(), 'late.mp4');
    ffmpeg(...PICTURE, ...SOUND, file);
    truncateSync(file, Math.floor(statSync(file).size / 2));
    await expect(inspect(file)).rejects.toMatchObject({ code: 'MEDIA_CORRUPT' });
  });

  test('with noise instead of its content is refused', async () => {
    const file = join(makeFolder(), 'noise.mp4');
    const bytes = Buffer.from(whole);
    for (let at = bytes.indexOf('mdat') + 100; at < bytes.length; at += 1) bytes[at] = (at * 7919) % 251;
    writeFileSync(file, bytes);
    await expect(inspect(file)).rejects.toMatchObject({ code: 'MEDIA_CORRUPT' });
  });
});
