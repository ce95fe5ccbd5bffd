import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inspectVideo } from '../../../src/media/probe/inspect.ts';
import { ffmpeg, programs, SAMPLE } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { forgeDurations } from '../forged-mp4.ts';

const signal = new AbortController().signal;
const inspect = (file: string) => inspectVideo(programs, file, { signal, folder: makeFolder() });
const CLIP = join(import.meta.dirname, '../../fixtures/two-seconds.mp4');
const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=s=160x90:r=10:d=1'];
const SOUND = ['-f', 'lavfi', '-i', 'sine=d=1'];

describe('inspecting a video', () => {
  test('measures it, by its content and not by its name, which may be like an option', async () => {
    const file = join(makeFolder(), '-i http:%d.avi');
    copyFileSync(CLIP, file);
    expect(await inspect(file)).toEqual({
      duration_seconds: 2.4,
      container: 'mp4',
      video: { codec: 'h264', width: 64, height: 48, frame_rate: 5 },
      audio: { codec: 'aac', sample_rate: 16_000, channels: 1 },
    });
  });

  test('refuses a video without sound, and sound with only a cover image', async () => {
    const folder = makeFolder();
    const [silent, song] = [join(folder, 'silent.mp4'), join(folder, 'song.mp4')];
    ffmpeg(...PICTURE, silent);
    await expect(inspect(silent)).rejects.toMatchObject({ code: 'NO_AUDIO_STREAM' });
    const cover = ['-f', 'lavfi', '-i', 'color=red:s=64x64:d=1:r=1', '-frames:v', '1', '-c:v', 'mjpeg'];
    ffmpeg(...SOUND, ...cover, '-c:a', 'aac', '-disposition:v:0', 'attached_pic', song);
    await expect(inspect(song)).rejects.toMatchObject({ code: 'MEDIA_UNSUPPORTED' });
  });

  test('says what is wrong with the header of an MP4, and does not advise to convert it to MP4', async () => {
    const file = join(makeFolder(), 'a.mp4');
    ffmpeg('-i', CLIP, '-c', 'copy', '-movflags', '+frag_keyframe+empty_moov', file);
    const bytes = readFileSync(file);
    // Without this box ffmpeg cannot read the fragments.
    bytes.write('free', bytes.indexOf('trex'), 'latin1');
    writeFileSync(file, bytes);
    await expect(inspect(file)).rejects.toThrow(
      'the header of the video cannot be read (trun track id unknown, no tfhd was found); copy, download or export it again',
    );
  });

  test('refuses joined recordings whose clock jumps', async () => {
    const folder = makeFolder();
    const part = join(folder, 'part.mpg');
    ffmpeg(...PICTURE, ...SOUND, '-r', '25', '-c:v', 'mpeg2video', '-c:a', 'mp2', '-f', 'vob', part);
    const file = join(folder, 'joined.mpg');
    writeFileSync(file, Buffer.concat([readFileSync(part), readFileSync(part)]));
    await expect(inspect(file)).rejects.toMatchObject({
      code: 'MEDIA_CORRUPT',
      message: expect.stringMatching(/the clock of the video jumps from 1\.\d s to \d\.\d s/),
    });
  });

  test('refuses a file without a byte', async () => {
    const file = join(makeFolder(), 'empty.mp4');
    writeFileSync(file, '');
    await expect(inspect(file)).rejects.toMatchObject({ code: expect.stringMatching(/^MEDIA_/) });
  });

  test('a deleted file is not a fault of the media', async () => {
    await expect(inspect('/nowhere/a.mp4')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test('the limit of 15 minutes cannot be evaded by a header that declares 10 s for 1,000, with a late start', async () => {
  const file = join(makeFolder(), 'forged.mp4');
  const picture = ['-f', 'lavfi', '-i', 'color=black:s=16x16:r=1/10:d=1000'];
  const silence = ['-f', 'lavfi', '-i', 'anullsrc=r=8000:cl=mono:d=10'];
  ffmpeg(...picture, ...silence, '-c:v', 'mpeg4', '-c:a', 'aac', '-output_ts_offset', '990', file);
  const bytes = readFileSync(file);
  forgeDurations(bytes, 10);
  writeFileSync(file, bytes);
  await expect(inspect(file)).rejects.toMatchObject({ code: 'DURATION_EXCEEDED' });
});

describe('a damaged video', () => {
  test('that was cut off says where it breaks off', async () => {
    const file = join(makeFolder(), 'cut.mp4');
    const whole = readFileSync(SAMPLE);
    writeFileSync(file, whole.subarray(0, whole.length / 2));
    await expect(inspect(file)).rejects.toMatchObject({
      code: 'MEDIA_CORRUPT',
      message: expect.stringMatching(/breaks off at 1\d\.\d s of 30\.\d s/),
    });
  });

  test('with noise instead of its content is refused', async () => {
    const file = join(makeFolder(), 'noise.mp4');
    const bytes = readFileSync(CLIP);
    const end = bytes.indexOf('mdat') > bytes.indexOf('moov') ? bytes.length : bytes.indexOf('moov') - 4;
    for (let at = bytes.indexOf('mdat') + 100; at < end; at += 1) bytes[at] = (at * 7919) % 251;
    writeFileSync(file, bytes);
    await expect(inspect(file)).rejects.toMatchObject({ code: 'MEDIA_CORRUPT' });
  });
});
