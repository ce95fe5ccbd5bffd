/** A video with a subtitle track, and a service whose localization returns it as it is. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ffmpeg } from '../../engines/workspace.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import type { Ended } from '../../support/run-main.ts';
import { startVloc } from '../support/run-vloc.ts';

export const SIZE = { width: 64, height: 96 };

let video: Buffer | undefined;

/** A grey second with a tone and subtitles, both English; made once. */
export function talk(): Buffer {
  if (video !== undefined) return video;
  const path = join(makeFolder(), 'talk.mp4');
  writeFileSync(`${path}.srt`, '1\n00:00:00,100 --> 00:00:00,900\nhello\n');
  ffmpeg(
    ...['-f', 'lavfi', '-i', `color=c=gray:s=${SIZE.width}x${SIZE.height}:r=5:d=1`],
    ...['-f', 'lavfi', '-i', 'sine=f=500:r=48000:d=1', '-i', `${path}.srt`],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-c:s', 'mov_text'],
    ...['-metadata:s:a:0', 'language=eng', '-metadata:s:s:0', 'language=eng', path],
  );
  video = readFileSync(path);
  return video;
}

/** Starts it with `talk.mp4` in the folder of the runs. */
export async function startTalk() {
  const inspect = async () => ({
    duration_seconds: 1,
    container: 'mp4' as const,
    video: { codec: 'h264', ...SIZE, frame_rate: 5 },
    audio: { codec: 'aac', sample_rate: 48_000, channels: 1 },
  });
  const vloc = await startVloc({ engines: { ...createSmallEngines(), inspect } });
  const at = (name: string) => join(vloc.folder, name);
  writeFileSync(at('talk.mp4'), talk());
  const run = (words: readonly string[], PATH = rememberingPath()): Promise<Ended> =>
    vloc.run(words, { env: { PATH } });
  return {
    ...{ vloc, at, run },
    localize: (...more: string[]) => run(['localize', 'talk.mp4', '--to', 'es', ...more]),
    jobs: async () => (await vloc.caller.get('/v1/auto-localizations?limit=50')).json.data,
  };
}
