/** Videos in stages that are damaged: nothing of them is paid, whichever stages are due, and the advice fits. */
import { readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ffmpeg } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { type Staging, startStaging } from './staging.ts';

const SRT = '1\n00:00:00,000 --> 00:00:00,900\nhola\n';
const MUTED = ['--to', 'es', '--from', 'en', '--subtitle', 'mine.srt', '--original-audio', 'mute'];

/** Six seconds with noise, so that the bytes are spread over the time. */
const SOURCE = [
  ...['-f', 'lavfi', '-i', 'testsrc2=s=64x48:r=5:d=6', '-f', 'lavfi', '-i', 'anoisesrc=r=48000:d=6'],
  ...['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '5', '-c:a', 'aac'],
];

function makeVideo(name: string, ...options: string[]): Buffer {
  const file = join(makeFolder(), name);
  ffmpeg(...SOURCE, ...options, file);
  return readFileSync(file);
}

const whole = () => makeVideo('whole.mp4', '-movflags', '+faststart');
const fragmented = () => makeVideo('fragmented.mp4', '-movflags', '+frag_keyframe+empty_moov');
const cutAt = (share: number, bytes: Buffer) => bytes.subarray(0, Math.floor(bytes.length * share));

/** A box that ffmpeg needs to read fragments, under a name that nothing knows. */
function withoutDefaults(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy.write('free', copy.indexOf('trex'), 'latin1');
  return copy;
}

/** Noise instead of the middle tenth. */
function spoil(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const from = Math.floor(copy.length / 2);
  for (let at = from; at < from + copy.length / 10; at += 1) copy[at] = (at * 7919) % 251;
  return copy;
}

async function open(name: string, content: Buffer): Promise<Staging> {
  const vloc = await startStaging();
  await rm(vloc.path('talk.mp4'));
  writeFileSync(vloc.path(name), content);
  writeFileSync(vloc.path('mine.srt'), SRT);
  return vloc;
}

it('a video that lacks its end is refused before anything is sent, although no stage sends it', async () => {
  const vloc = await open('cut.mp4', cutAt(0.98, whole()));
  for (const words of [[], ['--dry-run']]) {
    const { code, stderr } = await vloc.run(['localize', 'cut.mp4', ...MUTED, ...words]);
    expect(stderr).toMatch(/cut\.mp4: the last \d+ bytes .* are missing: the file is incomplete/);
    expect(stderr).toContain('copy, download or export it again');
    expect(code).toBe(2);
  }
  expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
});

it('a video whose header cannot be read here is refused, with what is wrong instead of a conversion to what it is', async () => {
  const vloc = await open('talk.mp4', withoutDefaults(fragmented()));
  const { code, stderr } = await vloc.run(['localize', 'talk.mp4', ...MUTED]);
  expect(stderr).toMatch(/talk\.mp4: the header of the video cannot be read \(.*no tfhd was found\)/);
  expect(stderr).toContain('copy, download or export it again');
  expect(stderr).not.toMatch(/MP4|same command again/);
  expect(code).toBe(2);
  expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
});

describe('before its dub is paid', () => {
  it.each([
    ['in fragments that breaks off', 'a.mp4', () => cutAt(0.8, fragmented()), [], /the file is incomplete/],
    [
      'that is converted and breaks off',
      'a.mkv',
      () => cutAt(0.7, makeVideo('a.mkv')),
      ['--convert'],
      /breaks off at \d\.\d s of 6\.0 s: the file is incomplete/,
    ],
    [
      'that cannot be decoded, for a sample',
      ...[
        'a.mp4',
        () => spoil(whole()),
        ['--sample', '5s'],
        /the (picture|sound) of the video cannot be decoded/,
      ],
    ],
  ] as const)('a video fails %s', async (_, name, content, more, why) => {
    const vloc = await open(name, content());
    const { code, stderr } = await vloc.run(['localize', name, ...MUTED, ...more]);
    expect(stderr).toMatch(why);
    expect(stderr).not.toMatch(/same command again/);
    expect(code).toBe(2);
    expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
  });

  it('a video of a folder that cannot be decoded fails alone, before its translation', async () => {
    const vloc = await open('bad.mp4', spoil(whole()));
    await vloc.addVideo('good.mp4');
    for (const name of ['bad', 'good']) writeFileSync(vloc.path(`${name}.en.srt`), SRT);
    const gate = ['--from-subtitles', '--stop-after', 'translate', '--out', 'out'];
    const { code, stderr } = await vloc.run(['localize', '.', '--to', 'es', '--from', 'en', ...gate]);
    expect(code, stderr).toBe(3);
    expect(stderr).toMatch(/the (picture|sound) of the video cannot be decoded/);
    expect(await vloc.jobs()).toEqual([0, 1, 0, 0]);
    expect([vloc.has('good.es.srt'), vloc.has('bad.es.srt')]).toEqual([true, false]);
    const status = await vloc.run(['batch', 'status', 'out', '--all', '-o', 'json']);
    expect(JSON.parse(status.stdout).counts).toMatchObject({ failed: 1 });
  });
});
