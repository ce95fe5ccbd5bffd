/** Damaged files are distinguished from whole ones of all sorts before they are converted or cut. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFacts } from '../../../src/media/probe/facts.ts';
import { requireComplete } from '../../../src/media/probe/packets.ts';
import { createWork, ffmpeg, programs, temporaryFolder } from '../../engines/workspace.ts';

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc2=s=160x120:r=25:d=10'];
const tone = (seconds: number) => ['-f', 'lavfi', '-i', `sine=f=220:r=48000:d=${seconds}`];
const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25'];
const MP4 = [...H264, '-c:a', 'aac'];
const VP8 = ['-c:v', 'libvpx', '-threads', '1', '-deadline', 'realtime', '-b:v', '300k', '-c:a', 'libopus'];
const TWO = [...tone(10), ...tone(10), '-map', '0:v', '-map', '1:a', '-map', '2:a'];

function make(name: string, ...options: string[]): string {
  const path = join(temporaryFolder(), name);
  ffmpeg(...PICTURE, ...options, path);
  return path;
}

/** Keeps so much of the file as if a download had broken off. */
function cutOff(path: string, share: number): string {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * share)));
  return path;
}

/** Removes the tags with the lengths of single streams: mkvmerge writes them at the end, where they are lost first. */
function untag(path: string): string {
  const text = readFileSync(path).toString('latin1');
  writeFileSync(path, Buffer.from(text.replaceAll('DURATION', 'NOTATION'), 'latin1'));
  return path;
}

async function check(path: string): Promise<void> {
  const work = createWork(temporaryFolder());
  await requireComplete(programs, path, await readFacts(programs, path, work), work);
}

describe('a file that breaks off is refused, with the time at which it does:', () => {
  test.each([
    ['talk.mkv', [...tone(10), ...MP4]],
    ['web.webm', [...tone(10), ...VP8]],
    ['show.flv', [...tone(10), '-ar', '44100', ...MP4]],
    ['two.mp4', [...TWO, ...MP4, '-movflags', '+faststart']],
  ])('%s', async (name, options) => {
    const failing = check(cutOff(make(name, ...options), 0.5));
    await expect(failing).rejects.toMatchObject({
      name: 'PreparationFailure',
      code: 'MEDIA_CORRUPT',
      message: expect.stringMatching(
        /^the video breaks off at \d\.\d s of 10\.\d s: the file is incomplete$/,
      ),
      advice: expect.stringContaining('copy, download or export it again'),
    });
  });

  test('an MKV that states only its total length', async () => {
    const path = untag(make('talk.mkv', ...tone(6), ...MP4));
    await check(path);
    await expect(check(cutOff(path, 0.5))).rejects.toMatchObject({ code: 'MEDIA_CORRUPT' });
  });
});

describe('a whole file is accepted:', () => {
  test.each([
    ['talk.mkv', [...tone(10), ...MP4]],
    ['web.webm', [...tone(10), ...VP8]],
    ['show.flv', [...tone(10), '-ar', '44100', ...MP4]],
    ['office.wmv', [...tone(10), '-c:v', 'wmv2', '-c:a', 'wmav2']],
  ])('%s', async (name, options) => {
    await check(make(name, ...options));
  });

  test.each(['short.mkv', 'short.flv'])('whose sound ends before the picture: %s', async (name) => {
    await check(make(name, ...tone(4), ...H264, '-c:a', 'mp3', '-ar', '44100'));
  });

  test.each(['late.mkv', 'late.flv'])('whose clock begins with a minute: %s', async (name) => {
    const whole = make('plain.mp4', ...tone(10), ...MP4);
    const late = join(temporaryFolder(), name);
    ffmpeg('-itsoffset', '60', '-i', whole, '-c', 'copy', '-copyts', '-avoid_negative_ts', 'disabled', late);
    await check(late);
  });

  test('whose sound begins seconds after the picture', async () => {
    const whole = make('plain.mp4', ...tone(10), ...MP4);
    for (const name of ['delayed.mkv', 'delayed.mp4']) {
      const path = join(temporaryFolder(), name);
      ffmpeg('-i', whole, '-itsoffset', '3', '-i', whole, '-map', '0:v', '-map', '1:a', '-c', 'copy', path);
      await check(path);
    }
  });

  test('that was written by a stream and declares no length', async () => {
    const live = {
      mkv: ['-live', '1'],
      flv: ['-flvflags', 'no_duration_filesize'],
      mp4: ['-movflags', 'frag_keyframe+empty_moov'],
    };
    for (const [format, options] of Object.entries(live)) {
      const path = make(`live.${format}`, ...tone(10), ...MP4, ...options);
      await check(path);
      await check(cutOff(path, 0.7));
    }
  });

  test('with a subtitle that is shown beyond the picture', async () => {
    const folder = temporaryFolder();
    const cue = join(folder, 'late.srt');
    writeFileSync(cue, '1\n00:00:20,000 --> 00:00:22,000\nlate\n');
    const path = join(folder, 'late.mkv');
    ffmpeg(...PICTURE, ...tone(10), '-i', cue, '-map', '0', '-map', '1', '-map', '2', ...MP4, path);
    await check(path);
    await check(untag(path));
  });

  test('of which an edit list shows a part', async () => {
    const path = join(temporaryFolder(), 'piece.mp4');
    ffmpeg('-ss', '3.5', '-i', make('plain.mp4', ...tone(10), ...MP4), '-t', '4', '-c', 'copy', path);
    await check(path);
  });

  test('whose last picture is shown to the end of the sound', async () => {
    const whole = make(
      'plain.mp4',
      ...tone(10),
      '-vf',
      "select='lt(t,4)+gt(t,9.95)'",
      '-fps_mode',
      'vfr',
      ...MP4,
    );
    await check(whole);
    const path = join(temporaryFolder(), 'still.mkv');
    ffmpeg('-i', whole, '-c', 'copy', path);
    await check(path);
  });

  test('that pauses in picture and sound, as calls do if nobody sends', async () => {
    const pausing = [
      '-vf',
      "select='lt(t,3)+gt(t,8)'",
      '-af',
      "aselect='lt(t,3)+gt(t,8)'",
      '-fps_mode',
      'vfr',
    ];
    await check(make('call.mkv', ...tone(10), ...pausing, ...MP4));
  });

  test('that lacks a moment at its end, as recordings do', async () => {
    await check(cutOff(make('talk.mkv', ...tone(10), ...MP4), 0.97));
  });
});
