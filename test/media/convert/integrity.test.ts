/** Damaged files are distinguished from whole ones of all sorts before they are converted or cut. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFacts, type VideoFacts } from '../../../src/media/probe/facts.ts';
import { requireComplete } from '../../../src/media/probe/packets.ts';
import { createWork, ffmpeg, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc2=s=64x48:r=5:d=6'];
const tone = (seconds: number) => ['-f', 'lavfi', '-i', `sine=f=220:r=48000:d=${seconds}`];
const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '5'];
const MP4 = [...H264, '-c:a', 'aac'];
const TWO = [...tone(6), ...tone(6), '-map', '0:v', '-map', '1:a', '-map', '2:a'];

function make(name: string, ...options: string[]): string {
  const path = join(makeFolder(), name);
  ffmpeg(...PICTURE, ...options, path);
  return path;
}

/** Writes the usual video again, which is encoded once. */
function copy(name: string, ...options: string[]): string {
  const path = join(makeFolder(), name);
  ffmpeg('-i', make('plain.mp4', ...tone(6), ...MP4), ...options, '-c', 'copy', path);
  return path;
}

/** Keeps so much of the file as if a download had broken off. */
function cutOff(path: string, share: number): string {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * share)));
  return path;
}

const factsOf = (path: string) => readFacts(programs, path, createWork(makeFolder()));

async function check(path: string, as?: Partial<VideoFacts>): Promise<void> {
  await requireComplete(programs, path, { ...(await factsOf(path)), ...as }, createWork(makeFolder()));
}

const BROKEN = {
  name: 'PreparationFailure',
  code: 'MEDIA_CORRUPT',
  message: expect.stringMatching(/^the video breaks off at \d\.\d s of 6\.\d s: the file is incomplete$/),
  advice: expect.stringContaining('copy, download or export it again'),
};

test('an MKV is accepted whole and without a moment at its end, as recordings are, and refused if it breaks off, with the time at which it does', async () => {
  const path = copy('talk.mkv');
  await check(path);
  await check(cutOff(path, 0.97));
  await expect(check(cutOff(path, 0.5))).rejects.toMatchObject(BROKEN);
  // Containers that do not declare their length break off at no time.
  await check(path, { demuxer: 'asf' });
});

test('an FLV whose sound ends before the picture is accepted, and refused if it breaks off', async () => {
  const path = make('show.flv', ...tone(3), '-ar', '44100', ...MP4);
  await check(path);
  await expect(check(cutOff(path, 0.5))).rejects.toMatchObject(BROKEN);
});

test('an MP4 of two tracks is refused if it breaks off', async () => {
  const path = make('two.mp4', ...TWO, ...MP4, '-movflags', '+faststart');
  await expect(check(cutOff(path, 0.5))).rejects.toMatchObject(BROKEN);
});

describe('a file is accepted', () => {
  test('whose clock begins with a minute, and whose sound begins seconds after the picture', async () => {
    const whole = make('plain.mp4', ...tone(6), ...MP4);
    const path = join(makeFolder(), 'late.mkv');
    const delayed = ['-i', whole, '-itsoffset', '3', '-i', whole, '-map', '0:v', '-map', '1:a'];
    ffmpeg(...delayed, '-c', 'copy', '-output_ts_offset', '60', path);
    await check(path);
    await check(copy('late.flv', '-output_ts_offset', '60'));
  });

  test.each([
    ['mkv', ['-live', '1']],
    ['mp4', ['-movflags', 'frag_keyframe+empty_moov']],
  ])('that was written by a stream, declares no length and breaks off: %s', async (format, options) => {
    await check(cutOff(copy(`live.${format}`, ...options), 0.7));
  });

  test('with a subtitle that is shown beyond the picture', async () => {
    const folder = makeFolder();
    const cue = join(folder, 'late.srt');
    writeFileSync(cue, '1\n00:00:20,000 --> 00:00:22,000\nlate\n');
    await check(copy('late.mkv', '-i', cue));
  });

  test('of which an edit list shows a part', async () => {
    const path = join(makeFolder(), 'piece.mp4');
    ffmpeg('-ss', '1.5', '-i', make('plain.mp4', ...tone(6), ...MP4), '-t', '4', '-c', 'copy', path);
    await check(path);
  });

  test('that pauses in picture and sound, as calls do if nobody sends, and whose last picture is shown to the end of the sound', async () => {
    const picture = ['-vf', "select='lt(t,1)+between(t,3,3.5)'", '-fps_mode', 'vfr'];
    const sound = ['-af', "aselect='lt(t,1)+gt(t,3)'"];
    await check(make('call.mkv', ...tone(6), ...picture, ...sound, ...MP4));
  });
});
