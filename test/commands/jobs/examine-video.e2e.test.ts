/**
 * What can be done with a video, as it is read before anything is sent, and videos that are not whole; test/media/convert has the
 * containers and codecs, test/media/probe the damages.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FileInput } from '../../../src/batch/input.ts';
import type { ExaminedVideo } from '../../../src/batch/preparation.ts';
import { createVideoExaminer } from '../../../src/commands/jobs/examine-video.ts';
import { type PreparationOptions, readPreparation } from '../../../src/commands/jobs/job-options.ts';
import { createPreparation } from '../../../src/commands/jobs/preparation.ts';
import { createRandom } from '../../client/simulation/random.ts';
import { ffmpeg, ffprobe } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { openMediaDesk } from './desk.ts';
import { LIMITS } from './limits.ts';

const picture = (seconds: number) => ['-f', 'lavfi', '-i', `testsrc=s=64x48:r=5:d=${seconds}`];
const tone = (seconds: number, hertz = 220) => [
  ...['-f', 'lavfi', '-i', `sine=f=${hertz}:r=48000:d=${seconds}`],
];
const MP4 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '5', '-c:a', 'aac'];
const FAST = [...MP4, '-movflags', '+faststart'];

function makeVideo(name: string, seconds: number, ...codecs: string[]): string {
  const path = join(makeFolder(), name);
  ffmpeg(...picture(seconds), ...tone(seconds), ...codecs, path);
  return path;
}

/** Examines a video for a recognition. */
async function examine(
  path: string,
  options: Partial<PreparationOptions> = {},
  searchPath = rememberingPath(),
) {
  const allowed = readPreparation({ split: false, ...options });
  const examiner = createVideoExaminer({
    ...{ kind: 'subtitle_recognition', allowed, searchPath, limits: LIMITS },
    ...{ signal: new AbortController().signal, isUsedHere: false },
  });
  return examiner(path, { bytes: statSync(path).size, isTaken: true });
}

const problem = (detail: RegExp) => ({ type: 'problem', detail: expect.stringMatching(detail) });

/** Makes what is sent instead of a video that was examined. */
async function prepare(path: string, found: ExaminedVideo) {
  if (found.type !== 'usable') throw new Error(found.detail);
  const { seconds, preparation } = found;
  const input: FileInput = {
    ...{ type: 'file', label: 'talk', stem: 'talk', name: basename(path), path, mtimeMs: 0 },
    ...{ bytes: statSync(path).size, contentType: 'video/mp4', seconds, preparation },
  };
  const work = { folder: makeFolder(), signal: new AbortController().signal, report: () => {} };
  return createPreparation({ env: { PATH: rememberingPath() }, limits: LIMITS }).prepare(input, null, work);
}

it('a file with two audio tracks needs a choice; the default is sent as it is, another is the one that is sent', async () => {
  const file = join(makeFolder(), 'two.mp4');
  const maps = [
    '-map',
    '0:v',
    '-map',
    '1:a',
    '-map',
    '2:a',
    '-ac:a:1',
    '6',
    '-metadata:s:a:1',
    'language=spa',
  ];
  ffmpeg(...picture(1), ...tone(1), ...tone(1, 880), ...maps, ...MP4, file);
  const choices = /2 audio tracks; choose one with --audio-track N.*: 1 \(aac\); 2 \(Spanish, aac\)$/;
  expect(await examine(file)).toEqual({ ...problem(choices), isOwn: true });
  expect(await examine(file, { convert: true })).toMatchObject({
    preparation: { conversion: null, track: 1, parts: 1, reasons: [expect.stringContaining('the default')] },
  });
  const second = await examine(file, { audioTrack: 2 });
  // An export mixes surround sound to two channels.
  expect(second).toMatchObject({
    channels: 6,
    preparation: {
      ...{ conversion: 'remuxed', track: 2 },
      reasons: [expect.stringContaining('audio track 2 (Spanish, aac) is used, as requested')],
    },
  });
  const { files } = await prepare(file, second);
  expect(files.map(({ path }) => ffprobe(path, 'stream_tags=language', 'a'))).toEqual(['spa']);
});

describe('a video that is too long and needs more than cutting', () => {
  it('is refused with all the options that would help', async () => {
    const uneven = ['-vf', "select='lt(n,3)+not(mod(n,3))'", '-fps_mode', 'vfr', ...MP4];
    const path = makeVideo('uneven.mp4', 6, ...uneven);
    const long = /it lasts [67] s, over the limit of 5 s; --split would cut it into [23] parts/;
    const advice = /variable frame rate .*--convert makes an MP4 of it, encoding what it must$/;
    const found = await examine(path);
    expect([found, found]).toEqual([problem(long), problem(advice)]);
    expect(await examine(path, { split: true, convert: true })).toMatchObject({ type: 'usable' });
  });

  it('is planned by its actual content, even if its header says less', async () => {
    const path = makeVideo('forged.mkv', 11.5, ...MP4);
    const bytes = readFileSync(path);
    // The element Duration, in milliseconds.
    bytes.writeDoubleBE(5500, bytes.indexOf(Buffer.from('448988', 'hex')) + 3);
    writeFileSync(path, bytes);
    expect(await examine(path, { split: true, convert: true })).toMatchObject({ preparation: { parts: 4 } });
  });
});

it('a hostile file is refused before anything is sent', async () => {
  const desk = await openMediaDesk();
  writeFileSync(join(desk.folder, 'list.mkv'), '#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/etc/passwd\n');
  writeFileSync(join(desk.folder, 'cut.mkv'), Buffer.from('1a45dfa3934282886d6174726f736b61', 'hex'));
  const { code, stderr } = await desk.vloc(['recognize', 'list.mkv', 'cut.mkv', '--convert', '--split']);
  expect(code, stderr).toBe(2);
  expect(stderr).toMatch(/list\.mkv: .*cut\.mkv: /s);
  expect(stderr).not.toContain('root:');
  expect(desk.count('createUpload')).toBe(0);
});

describe('a damaged video', () => {
  it('does not become a shorter one that looks whole', async () => {
    const path = makeVideo('talk.mkv', 4, ...MP4);
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length / 2)));
    await expect(prepare(path, await examine(path, { convert: true }))).rejects.toMatchObject({
      message: expect.stringMatching(/breaks off at \d\.\d s of 4\.\d s: the file is incomplete/),
      facts: { category: 'usage' },
    });
  });

  it('that cannot be decoded in its middle is not encoded again', async () => {
    // Only its first frame is a key frame, so it must be encoded to be cut.
    const path = makeVideo('sparse.mp4', 6, ...FAST, '-g', '1000');
    const bytes = readFileSync(path);
    // Always the same noise in a tenth of the media, because some noise makes ffmpeg give up the sound.
    const random = createRandom(1);
    const from = Math.floor(bytes.length / 2);
    for (let at = from; at < from + bytes.length / 10; at += 1) bytes[at] = Math.floor(256 * random());
    writeFileSync(path, bytes);
    await expect(prepare(path, await examine(path, { split: true }))).rejects.toMatchObject({
      message: expect.stringContaining('more than one frame in fifty cannot be decoded: the file is damaged'),
      facts: { category: 'usage', advice: expect.stringMatching(/^Copy, download or export it again/) },
    });
  });

  it('without its index is refused, and left to the service if nothing can read it', async () => {
    const path = join(makeFolder(), 'trunc.mp4');
    writeFileSync(
      path,
      Buffer.concat([Buffer.from('\0\0\0\x10ftypisom\0\0\0\0\0\0\x20\0mdat'), Buffer.alloc(500)]),
    );
    expect(await examine(path)).toEqual(
      problem(/^the video has no index: the recording or its copy was cut off/),
    );
    expect(await examine(path, {}, '')).toEqual({ type: 'usable', seconds: null, preparation: null });
  });
});

it('a video that ffmpeg here cannot read, without certain damage, is left to the service', async () => {
  const path = join(makeFolder(), 'new.mpg');
  writeFileSync(path, Buffer.concat([Buffer.from('000001b3', 'hex'), Buffer.alloc(500, 0xff)]));
  expect(await examine(path)).toEqual({ type: 'usable', seconds: null, preparation: null });
  expect(await examine(path, { sample: 5000 })).toMatchObject({ type: 'problem' });
});
