/** Videos that are not whole, through a command: refused before anything is sent, whatever is to be done to them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../client/simulation/random.ts';
import { makeVideo } from '../../prepare/workspace.ts';
import { type MediaDesk, openMediaDesk } from './desk.ts';

const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '5'];
const MP4 = [...H264, '-c:a', 'aac'];
const FAST = [...MP4, '-movflags', '+faststart'];
const PATIENCE = { timeout: 300_000 };

/** A video of which so much is there as if its download had broken off. */
function makeCut(desk: MediaDesk, name: string, { seconds = 4, share = 0.5, codecs = MP4 }): void {
  const path = makeVideo(desk.folder, name, seconds, ...codecs);
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * share)));
}

const NOT_WHOLE =
  /breaks off at \d\.\d s of \d+\.\d s: the file is incomplete(; c|\n.*\n {2}C)opy, download or export it again/;

describe('a damaged video', PATIENCE, () => {
  it.each([
    ['talk.mkv', { codecs: MP4 }, ['--convert']],
    ['plain.mp4', { codecs: FAST, seconds: 10, share: 0.6 }, ['--split']],
  ])('does not become a shorter one that looks whole: %s', async (name, cut, wishes) => {
    const desk = await openMediaDesk();
    makeCut(desk, name, cut);
    const { code, stderr } = await desk.vloc(['separate', name, ...wishes, '--out', 'out']);
    expect(stderr).toMatch(NOT_WHOLE);
    expect(code).toBe(2);
    expect([desk.count('createUpload'), desk.count('createAudioSeparation')]).toEqual([0, 0]);
  });

  it('that is long is refused by the plan, before a number of parts is promised', async () => {
    const desk = await openMediaDesk();
    makeCut(desk, 'talk.mp4', { codecs: FAST, seconds: 10, share: 0.6 });
    const { code, stderr } = await desk.vloc(['recognize', 'talk.mp4', '--split', '--dry-run']);
    expect(stderr).toMatch(NOT_WHOLE);
    expect(code).toBe(2);
  });
});

/**
 * Noise instead of a tenth of the data that the index points to: always the same, because some noise makes ffmpeg
 * give up the sound.
 */
function spoil(path: string): void {
  const bytes = readFileSync(path);
  const from = Math.floor(bytes.length / 2);
  const random = createRandom(1);
  for (let at = from; at < from + Math.floor(bytes.length / 10); at += 1)
    bytes[at] = Math.floor(256 * random());
  writeFileSync(path, bytes);
}

describe('a video that cannot be decoded in its middle', PATIENCE, () => {
  it.each([['sparse.mp4', [...FAST, '-g', '1000'], ['--split']]])(
    'is not encoded again: %s',
    async (name, codecs, wishes) => {
      const desk = await openMediaDesk();
      spoil(makeVideo(desk.folder, name, 6, ...codecs));
      const { code, stderr } = await desk.vloc(['separate', name, ...wishes, '--out', 'out']);
      expect(stderr).toMatch(
        /more than one frame in fifty cannot be decoded: the file is damaged(; c|\n.*\n {2}C)opy/,
      );
      expect(code).toBe(2);
      expect(desk.count('createUpload')).toBe(0);
    },
  );
});

describe('a video without its index', PATIENCE, () => {
  it.each([[[]], [['--split']]])('is refused here with %j', async (wishes) => {
    const desk = await openMediaDesk();
    makeCut(desk, 'trunc.mp4', {});
    const { code, stderr } = await desk.vloc(['recognize', 'trunc.mp4', ...wishes]);
    expect(stderr).toContain('trunc.mp4: the video has no index: the recording or its copy was cut off');
    expect(code).toBe(2);
    expect(desk.count('createUpload')).toBe(0);
  });

  it('is left to the service if nothing can read it here', async () => {
    const desk = await openMediaDesk();
    makeCut(desk, 'trunc.mp4', {});
    const { code, stderr } = await desk.vloc(['recognize', 'trunc.mp4'], { env: { PATH: '' } });
    expect(desk.count('createUpload'), stderr).toBe(1);
    expect(code).not.toBe(2);
  });
});

it(
  'a video that ffmpeg here cannot read, without certain damage, is left to the service',
  PATIENCE,
  async () => {
    const desk = await openMediaDesk();
    const head = Buffer.from('000001b3', 'hex');
    writeFileSync(join(desk.folder, 'new.mpg'), Buffer.concat([head, Buffer.alloc(500, 0xff)]));
    const { code, stderr } = await desk.vloc(['recognize', 'new.mpg', '--dry-run']);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('1 of unknown size');
  },
);
