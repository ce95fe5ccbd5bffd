/**
 * One file for each thing that a command can do with a video, and videos that are not whole; test/media/convert has the containers
 * and codecs.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRandom } from '../../client/simulation/random.ts';
import { ffmpeg, ffprobe } from '../../engines/workspace.ts';
import { makeVideo } from '../../prepare/workspace.ts';
import { type MediaDesk, openMediaDesk } from './desk.ts';

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=s=64x48:r=25:d=1'];
const TONE = ['-f', 'lavfi', '-i', 'sine=f=220:r=48000:d=1'];
const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast'];
const MP4 = [...H264, '-c:a', 'aac'];
const UNEVEN = ['-vf', "select='lt(n,10)+not(mod(n,3))'", '-fps_mode', 'vfr'];
const PATIENCE = { timeout: 300_000 };

it('joined recordings whose clock starts again are refused before they are sent', PATIENCE, async () => {
  const desk = await openMediaDesk();
  const one = join(desk.folder, 'one.mpg');
  ffmpeg(...PICTURE, ...TONE, '-c:v', 'mpeg2video', '-c:a', 'mp2', '-f', 'vob', one);
  writeFileSync(join(desk.folder, 'two.mpg'), Buffer.concat([readFileSync(one), readFileSync(one)]));
  const words = ['recognize', '--from', 'en', '--out', 'out'];
  const joined = await desk.vloc([...words, 'two.mpg']);
  expect(joined.code, joined.stderr).toBe(2);
  expect(joined.stderr).toMatch(/the clock of the video jumps .*`ffmpeg -i IN OUT\.mp4`/);
  expect(desk.count('createUpload')).toBe(0);
  expect((await desk.vloc([...words, 'one.mpg', '--dry-run'])).code).toBe(0);
});

it(
  'a file with two audio tracks is refused without a choice; the default is sent as it is, another is the one that is sent',
  PATIENCE,
  async () => {
    const desk = await openMediaDesk();
    const sounds = [...TONE, '-f', 'lavfi', '-i', 'sine=f=880:r=48000:d=1'];
    const maps = ['-map', '0:v', '-map', '1:a', '-map', '2:a', '-metadata:s:a:1', 'language=spa'];
    ffmpeg(...PICTURE, ...sounds, ...maps, ...MP4, join(desk.folder, 'two.mp4'));
    const words = ['localize', 'two.mp4', '--from', 'en', '--to', 'es', '--out'];
    const plain = await desk.vloc([...words, 'out']);
    expect(plain.code, plain.stderr).toBe(2);
    expect(plain.stderr).toMatch(
      /2 audio tracks; choose one with --audio-track N.*: 1 \(aac\); 2 \(Spanish, aac\)/,
    );
    expect(desk.count('createUpload')).toBe(0);
    const first = await desk.vloc([...words, 'out', '--convert']);
    expect(first.code, first.stderr).toBe(0);
    expect(first.stderr).not.toMatch(/remuxed|transcoded/);
    expect(ffprobe(join(desk.folder, 'out', 'two.es.mp4'), 'stream_tags=language', 'a')).toBe('und\nspa');

    const second = await desk.vloc([...words, 'second', '--audio-track', '2']);
    expect(second.code, second.stderr).toBe(0);
    expect(second.stderr).toContain('audio track 2 (Spanish, aac) is used, as requested');
    expect(ffprobe(join(desk.folder, 'second', 'two.es.mp4'), 'stream_tags=language', 'a')).toBe('spa');
    const other = await desk.vloc([...words, 'second', '--audio-track', '1']);
    expect(other.code).toBe(2);
    expect(other.stderr).toContain('audio track 2 → 1');
  },
);

describe('a video that is too long and needs more than cutting', PATIENCE, () => {
  const LONG = [
    '-f',
    'lavfi',
    '-i',
    'testsrc=s=64x48:r=25:d=6',
    '-f',
    'lavfi',
    '-i',
    'sine=f=220:r=48000:d=6',
  ];

  it.each([
    [
      'uneven.mp4',
      [...UNEVEN, ...MP4],
      /variable frame rate .*--convert makes an MP4 of it, encoding what it must/,
    ],
    [
      'even.mkv',
      MP4,
      /accept MKV and WebM files \(.*--convert makes an MP4 of it, without re-encoding, unless a cut needs it/,
    ],
  ])('is refused with all the options that would help: %s', async (name, codecs, advice) => {
    const desk = await openMediaDesk();
    ffmpeg(...LONG, ...codecs, join(desk.folder, name));
    const { code, stderr } = await desk.vloc(['recognize', name]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/it lasts [67] s, over the limit of 5 s; --split would cut it into [23] parts/);
    expect(stderr).toMatch(advice);
    const helped = await desk.vloc(['recognize', name, '--split', '--convert', '--dry-run']);
    expect(helped.code, helped.stderr).toBe(0);
  });

  it('is planned by its actual content, even if its header says less', async () => {
    const desk = await openMediaDesk();
    const path = join(desk.folder, 'forged.mkv');
    ffmpeg(...LONG.map((option) => option.replace('d=6', 'd=11.5')), ...MP4, path);
    const bytes = readFileSync(path);
    // The element Duration, in milliseconds.
    bytes.writeDoubleBE(5500, bytes.indexOf(Buffer.from('448988', 'hex')) + 3);
    writeFileSync(path, bytes);
    const { code, stderr } = await desk.vloc([
      'recognize',
      'forged.mkv',
      '--split',
      '--convert',
      '--dry-run',
    ]);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('about 4 parts');
  });
});

describe('a hostile file', PATIENCE, () => {
  it.each([
    ['playlist.mkv', '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/etc/passwd\n'],
    ['cut.mkv', Buffer.from('1a45dfa3934282886d6174726f736b61', 'hex')],
  ])('%s is refused before anything is sent', async (name, content) => {
    const desk = await openMediaDesk();
    writeFileSync(join(desk.folder, name), content);
    const { code, stderr } = await desk.vloc(['recognize', name, '--convert', '--split']);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(name);
    expect(stderr).not.toContain('root:');
    expect(desk.count('createUpload')).toBe(0);
  });
});

/** Key frames everywhere, so that the picture need not be encoded. */
const CODED = [...H264, '-g', '5', '-c:a', 'aac'];
const FAST = [...CODED, '-movflags', '+faststart'];

/** A video of which so much is there as if its download had broken off. */
function makeCut(desk: MediaDesk, name: string, { seconds = 4, share = 0.5, codecs = CODED }): void {
  const path = makeVideo(desk.folder, name, seconds, ...codecs);
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * share)));
}

const NOT_WHOLE =
  /breaks off at \d\.\d s of \d+\.\d s: the file is incomplete(; c|\n.*\n {2}C)opy, download or export it again/;

describe('a damaged video', PATIENCE, () => {
  it.each([
    ['recognize', []],
    ['localize', ['--to', 'es', '--sample', '5s']],
    ['recognize', ['--convert']],
  ])('that lacks its end is refused before it is sent: %s %s', async (command, more) => {
    const desk = await openMediaDesk();
    makeCut(desk, 'talk.mp4', { codecs: FAST, share: 0.6 });
    for (const words of [[], ['--dry-run']]) {
      const { code, stderr } = await desk.vloc([command, 'talk.mp4', ...more, ...words]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(NOT_WHOLE)]);
    }
    expect(desk.count('createUpload')).toBe(0);
  });

  it('does not become a shorter one that looks whole', async () => {
    const desk = await openMediaDesk();
    makeCut(desk, 'talk.mkv', { codecs: CODED });
    const { code, stderr } = await desk.vloc(['separate', 'talk.mkv', '--convert', '--out', 'out']);
    expect(stderr).toMatch(NOT_WHOLE);
    expect(code).toBe(2);
    expect([desk.count('createUpload'), desk.count('createAudioSeparation')]).toEqual([0, 0]);
  });

  it('that is long is refused by the plan, before a number of parts is promised', async () => {
    const desk = await openMediaDesk();
    makeCut(desk, 'talk.mp4', { codecs: FAST, seconds: 10, share: 0.6 });
    for (const more of [['--dry-run'], []]) {
      const { code, stderr } = await desk.vloc(['separate', 'talk.mp4', '--split', '--out', 'out', ...more]);
      expect(stderr).toMatch(NOT_WHOLE);
      expect(code).toBe(2);
    }
    expect([desk.count('createUpload'), desk.count('createAudioSeparation')]).toEqual([0, 0]);
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

it('a video that cannot be decoded in its middle is not encoded again', PATIENCE, async () => {
  const desk = await openMediaDesk();
  spoil(makeVideo(desk.folder, 'sparse.mp4', 6, ...FAST, '-g', '1000'));
  const { code, stderr } = await desk.vloc(['separate', 'sparse.mp4', '--split', '--out', 'out']);
  expect(stderr).toMatch(
    /more than one frame in fifty cannot be decoded: the file is damaged(; c|\n.*\n {2}C)opy/,
  );
  expect(code).toBe(2);
  expect(desk.count('createUpload')).toBe(0);
});

it(
  'a video without its index is refused here, and left to the service if nothing can read it',
  PATIENCE,
  async () => {
    const desk = await openMediaDesk();
    makeCut(desk, 'trunc.mp4', {});
    for (const wishes of [[], ['--split']]) {
      const { code, stderr } = await desk.vloc(['recognize', 'trunc.mp4', ...wishes]);
      expect(stderr).toContain('trunc.mp4: the video has no index: the recording or its copy was cut off');
      expect(code).toBe(2);
    }
    expect(desk.count('createUpload')).toBe(0);
    const { code, stderr } = await desk.vloc(['recognize', 'trunc.mp4'], { env: { PATH: '' } });
    expect(desk.count('createUpload'), stderr).toBe(1);
    expect(code).not.toBe(2);
  },
);

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
