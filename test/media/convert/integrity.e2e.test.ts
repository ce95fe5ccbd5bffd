/** Damaged files are distinguished from whole ones of all sorts before they are converted or cut. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readFacts, type VideoFacts } from '../../../src/media/probe/facts.ts';
import { requireComplete } from '../../../src/media/probe/packets.ts';
import { createWork, ffmpeg, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc2=s=64x48:r=5:d=6'];
const tone = (seconds: number) => ['-f', 'lavfi', '-i', `sine=f=220:r=48000:d=${seconds}`];
const MP4 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '5', '-c:a', 'aac'];

function make(name: string, ...options: string[]): string {
  const path = join(makeFolder(), name);
  ffmpeg(...PICTURE, ...options, path);
  return path;
}

/** Keeps so much of the file as if a download had broken off. */
function cutOff(path: string, share: number): string {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * share)));
  return path;
}

const factsOf = (path: string) => readFacts(programs, path, createWork(makeFolder()));

async function check(path: string, facts?: VideoFacts): Promise<void> {
  await requireComplete(programs, path, facts ?? (await factsOf(path)), createWork(makeFolder()));
}

const BROKEN = {
  name: 'PreparationFailure',
  code: 'MEDIA_CORRUPT',
  message: expect.stringMatching(/^the video breaks off at \d\.\d s of 6\.\d s: the file is incomplete$/),
  advice: expect.stringContaining('copy, download or export it again'),
};

test('an MKV is refused if it breaks off, with the time at which it does, and a container that declares no length is not', async () => {
  const path = cutOff(make('talk.mkv', ...tone(6), ...MP4), 0.5);
  const facts = await factsOf(path);
  await expect(check(path, facts)).rejects.toMatchObject(BROKEN);
  await check(path, { ...facts, demuxer: 'asf' });
});

test('an MKV is accepted whose clock begins with a minute, whose sound begins seconds later, that pauses as calls do, and whose subtitle is shown beyond the picture', async () => {
  const cue = join(makeFolder(), 'late.srt');
  writeFileSync(cue, '1\n00:00:20,000 --> 00:00:22,000\nlate\n');
  const pauses = ['-vf', "select='lt(t,1)+between(t,3,3.5)'", '-fps_mode', 'vfr'];
  const late = ['-itsoffset', '3', ...tone(3), '-i', cue, '-output_ts_offset', '60'];
  await check(make('call.mkv', ...late, ...pauses, ...MP4));
});

test('an FLV whose clock begins with a minute, and whose sound ends before the picture, is accepted, and refused if it breaks off', async () => {
  const path = make('show.flv', ...tone(3), '-ar', '44100', ...MP4, '-output_ts_offset', '60');
  const facts = await factsOf(path);
  await check(path, facts);
  await expect(check(cutOff(path, 0.5), facts)).rejects.toMatchObject(BROKEN);
});

test('an MP4 of which an edit list shows a part is accepted, and refused if it breaks off', async () => {
  const path = join(makeFolder(), 'piece.mp4');
  const cut = ['-ss', '1.5', '-i', make('plain.mp4', ...tone(8), ...MP4), '-c', 'copy'];
  ffmpeg(...cut, '-movflags', '+faststart', path);
  const facts = await factsOf(path);
  await check(path, facts);
  await expect(check(cutOff(path, 0.4), facts)).rejects.toMatchObject(BROKEN);
});

test('an MP4 is accepted that was written by a stream, declares no length and breaks off', async () => {
  const live = ['-movflags', 'frag_keyframe+empty_moov'];
  await check(cutOff(make('live.mp4', ...tone(6), ...MP4, ...live), 0.7));
});
