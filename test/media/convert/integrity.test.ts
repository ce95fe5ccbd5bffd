/** Damaged files are distinguished from whole ones of all sorts before they are converted or cut. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFacts } from '../../../src/media/probe/facts.ts';
import { requireComplete } from '../../../src/media/probe/packets.ts';
import { createWork, ffmpeg, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc2=s=80x60:r=10:d=6'];
const tone = (seconds: number) => ['-f', 'lavfi', '-i', `sine=f=220:r=48000:d=${seconds}`];
const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10'];
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

/** Removes the tags with the lengths of single streams: mkvmerge writes them at the end, where they are lost first. */
function untag(path: string): string {
  const text = readFileSync(path).toString('latin1');
  writeFileSync(path, Buffer.from(text.replaceAll('DURATION', 'NOTATION'), 'latin1'));
  return path;
}

async function check(path: string): Promise<void> {
  const work = createWork(makeFolder());
  await requireComplete(programs, path, await readFacts(programs, path, work), work);
}

test.each([
  ['talk.mkv', () => copy('talk.mkv')],
  [
    'show.flv, whose sound ends before the picture',
    () => make('show.flv', ...tone(3), '-ar', '44100', ...MP4),
  ],
  ['two.mp4', () => make('two.mp4', ...TWO, ...MP4, '-movflags', '+faststart')],
])(
  'a whole file is accepted, and refused if it breaks off, with the time at which it does: %s',
  async (_, write) => {
    const path = write();
    await check(path);
    await expect(check(cutOff(path, 0.5))).rejects.toMatchObject({
      name: 'PreparationFailure',
      code: 'MEDIA_CORRUPT',
      message: expect.stringMatching(/^the video breaks off at \d\.\d s of 6\.\d s: the file is incomplete$/),
      advice: expect.stringContaining('copy, download or export it again'),
    });
  },
);

test('an MKV that states only its total length is refused if it breaks off', async () => {
  const path = untag(copy('talk.mkv'));
  await expect(check(cutOff(path, 0.5))).rejects.toMatchObject({ code: 'MEDIA_CORRUPT' });
});

describe('a file is accepted', () => {
  test('that lacks a moment at its end, as recordings do', async () => {
    await check(cutOff(copy('talk.mkv'), 0.97));
  });

  test('in a container that does not declare its length', async () => {
    await check(make('office.wmv', ...tone(6), '-c:v', 'wmv2', '-c:a', 'wmav2'));
  });

  test.each(['late.mkv', 'late.flv'])('whose clock begins with a minute: %s', async (name) => {
    await check(copy(name, '-output_ts_offset', '60'));
  });

  test('whose sound begins seconds after the picture', async () => {
    const whole = make('plain.mp4', ...tone(6), ...MP4);
    const path = join(makeFolder(), 'delayed.mp4');
    ffmpeg('-i', whole, '-itsoffset', '3', '-i', whole, '-map', '0:v', '-map', '1:a', '-c', 'copy', path);
    await check(path);
  });

  test.each([
    ['mkv', ['-live', '1']],
    ['flv', ['-flvflags', 'no_duration_filesize']],
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
