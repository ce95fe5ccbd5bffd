import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DEINTERLACE } from '../../../src/media/encode/encoders.ts';
import type { TrackFacts, VideoFacts } from '../../../src/media/probe/facts.ts';
import { createPrograms } from '../../../src/media/programs/programs.ts';
import { splitVideo } from '../../../src/media/split/split-video.ts';
import { createWork } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { silentWav } from '../../support/wav.ts';

/** Gives silence for the sound, and writes down how the picture is to be cut. */
const FFMPEG = `#!/bin/sh
for word do last=$word; done
case $last in
*.wav) cp silence.wav "\${last#file:}" ;;
*) echo "$*" > asked; exit 1 ;;
esac`;

test('a picture that is encoded to be cut gets key frames at the cuts, and becomes progressive', async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, 'ffmpeg'), FFMPEG, { mode: 0o755 });
  writeFileSync(join(folder, 'silence.wav'), silentWav(1));
  const frameRate = { num: 30, den: 1 };
  const timeline = {
    ...{ startSeconds: 0, durationSeconds: 1, pictureSeconds: 1, frames: 30 },
    frameRate,
    isConstant: true,
  };
  const task = {
    path: join(folder, 'talk.mp4'),
    facts: { picture: { index: 0, codec: 'h264', hdr: null, isDeep: false } } as VideoFacts,
    timeline: { ...timeline, cleanFrames: [] },
    track: { index: 1, channels: 2 } as TrackFacts,
    cuts: [{ frame: 15, seconds: 0.5, in: 'border', isClean: false } as const],
    limits: { equalSeconds: 1, mostSeconds: 1, mostBytes: 1e9 },
  };
  const programs = createPrograms(`${folder}:${process.env.PATH}`);
  await expect(splitVideo(programs, task, createWork(folder))).rejects.toThrow('the picture cannot be cut');
  const asked = readFileSync(join(folder, 'asked'), 'utf8');
  expect(asked).toContain(` -vf ${DEINTERLACE},`);
  expect(asked).toContain(' -force_key_frames expr:eq(n,15) ');
});
