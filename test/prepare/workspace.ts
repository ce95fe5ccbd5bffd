/** What tests of preparing share: small media with marks in them by which every frame and sample is known again. */
import { join } from 'node:path';
import { readFacts } from '../../src/media/probe/facts.ts';
import { readTimeline } from '../../src/media/probe/timeline.ts';
import type { LongVideo } from '../../src/media/split/split-long-video.ts';
import { createWork, ffmpeg, programs } from '../engines/workspace.ts';
import { askProgram } from '../support/remembered-programs.ts';

/** A video of `seconds` at 25 frames a second whose frames all differ, with a tone; `codecs` are ffmpeg's options. */
export function makeVideo(folder: string, name: string, seconds: number, ...codecs: string[]): string {
  const path = join(folder, name);
  const picture = ['-f', 'lavfi', '-i', `testsrc=s=160x120:r=25:d=${seconds}`];
  const sound = ['-f', 'lavfi', '-i', `sine=f=220:r=48000:d=${seconds}`];
  ffmpeg(...picture, ...sound, ...codecs, path);
  return path;
}

export async function readLongVideo(path: string, folder: string): Promise<LongVideo> {
  const work = createWork(folder);
  const facts = await readFacts(programs, path, work);
  const timeline = await readTimeline(programs, path, facts, work);
  const track = facts.tracks[0];
  if (track === undefined) throw new Error('the test needs sound');
  return { path, facts, timeline, track };
}

/** A digest of every frame as it is shown, in order. */
export function frameDigests(path: string): string[] {
  const args = ['-v', 'error', '-i', path, '-map', '0:v:0', '-f', 'framemd5', '-'];
  const rows = askProgram('ffmpeg', args).toString().split('\n');
  return rows.filter((row) => /^\d/.test(row)).map((row) => row.split(',').at(-1)?.trim() ?? '');
}

/** The sound as 48 kHz mono samples. */
export function samplesOf(path: string): Int16Array {
  const args = ['-v', 'error', '-i', path, '-map', '0:a:0', '-ac', '1', '-ar', '48000', '-f', 's16le', '-'];
  const bytes = askProgram('ffmpeg', args);
  return new Int16Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 2));
}
