/** Videos in stages that are damaged: nothing of them is paid, whichever stages are due, and the advice fits. */
import { readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ffmpeg } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { type Staging, startStaging } from './staging.ts';

const PATIENCE = { timeout: 120_000 };
const SRT = '1\n00:00:00,000 --> 00:00:00,900\nhola\n';
const OWN = ['--to', 'es', '--from', 'en', '--subtitle', 'mine.srt'];
const MUTED = [...OWN, '--original-audio', 'mute'];

/** Six seconds with noise, so that the bytes are spread over the time. */
const SOURCE = [
  ...['-f', 'lavfi', '-i', 'testsrc2=s=160x90:r=10:d=6', '-f', 'lavfi', '-i', 'anoisesrc=r=48000:d=6'],
  ...['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '10', '-c:a', 'aac'],
];

const made = new Map<string, Buffer>();

/** Made once, as there is nothing random in it. */
function makeVideo(name: string, ...options: string[]): Buffer {
  const known = made.get(name);
  if (known !== undefined) return known;
  const file = join(makeFolder(), name);
  ffmpeg(...SOURCE, ...options, file);
  const bytes = readFileSync(file);
  made.set(name, bytes);
  return bytes;
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

describe('a video that breaks off', PATIENCE, () => {
  it('is refused by plan and run before anything is sent, although no stage sends it', async () => {
    const vloc = await open('cut.mp4', cutAt(0.8, whole()));
    for (const words of [[], ['--dry-run']]) {
      const { code, stderr } = await vloc.run(['localize', 'cut.mp4', ...MUTED, ...words]);
      expect(stderr).toMatch(/cut\.mp4: the video breaks off at \d\.\d s of 6\.0 s: the file is incomplete/);
      expect(stderr).toContain('copy, download or export it again');
      expect(code).toBe(2);
    }
    expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
  });

  it('is refused with its last seconds only, and with the recognition or the translation to be made', async () => {
    const vloc = await open('cut.mp4', cutAt(0.98, whole()));
    writeFileSync(vloc.path('cut.en.srt'), SRT);
    for (const more of [[], ['--stop-after', 'translate'], ['--from-subtitles']]) {
      const words = ['localize', 'cut.mp4', '--to', 'es', '--from', 'en', ...more];
      const { code, stderr } = await vloc.run(words);
      expect([code, stderr]).toEqual([2, expect.stringMatching(/the last \d+ bytes .* are missing/)]);
    }
    expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
  });

  it('in fragments is refused too', async () => {
    const vloc = await open('cut.mp4', cutAt(0.8, fragmented()));
    const { code, stderr } = await vloc.run(['localize', 'cut.mp4', ...MUTED]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('the file is incomplete')]);
    expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
  });

  it('and is converted fails before its dub is paid', async () => {
    const vloc = await open('cut.mkv', cutAt(0.7, makeVideo('whole.mkv')));
    const words = ['localize', 'cut.mkv', ...MUTED, '--convert'];
    const { code, stderr } = await vloc.run(words);
    expect(stderr).toMatch(/breaks off at \d\.\d s of 6\.0 s: the file is incomplete/);
    expect(code).toBe(2);
    expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
    // A file that was copied again is localized, and counts as failed no longer.
    writeFileSync(vloc.path('cut.mkv'), makeVideo('whole.mkv'));
    const again = await vloc.run(words);
    expect(again.code, again.stderr).toBe(0);
    expect((await vloc.run(['batch', 'status', '.'])).code).toBe(0);
  });
});

describe('a video that cannot be read', PATIENCE, () => {
  it('here is refused, with what is wrong instead of a conversion to what it is', async () => {
    const vloc = await open('talk.mp4', withoutDefaults(fragmented()));
    for (const words of [[...OWN], [...MUTED], ['--to', 'es', '--from', 'en', '--from-subtitles']]) {
      const { code, stderr } = await vloc.run(['localize', 'talk.mp4', ...words]);
      expect(stderr).toMatch(/talk\.mp4: the header of the video cannot be read \(.*no tfhd was found\)/);
      expect(stderr).toContain('copy, download or export it again');
      expect(stderr).not.toMatch(/MP4|same command again/);
      expect(code).toBe(2);
    }
    expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
  });
});

describe('a video that cannot be decoded', PATIENCE, () => {
  it.each([
    ['a gate', ['--to', 'es', '--source-subtitle', 'mine.srt', '--stop-after', 'translate']],
    ['a sample', [...MUTED, '--sample', '5s']],
  ])('fails before anything is paid, with %s; others run', async (_, words) => {
    const vloc = await open('talk.mp4', spoil(whole()));
    const { code, stderr } = await vloc.run(['localize', 'talk.mp4', ...words]);
    expect(stderr).toMatch(/the (picture|sound) of the video cannot be decoded/);
    expect(stderr).not.toMatch(/same command again/);
    expect(code).toBe(2);
    expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
  });

  it('in a folder fails alone', async () => {
    const vloc = await open('bad.mp4', spoil(whole()));
    await vloc.addVideo('good.mp4');
    for (const name of ['bad', 'good']) writeFileSync(vloc.path(`${name}.es.srt`), SRT);
    const words = [
      'localize',
      '.',
      '--to',
      'es',
      '--from-subtitles',
      '--original-audio',
      'mute',
      '--out',
      'out',
    ];
    const { code, stderr } = await vloc.run(words);
    expect(code, stderr).toBe(3);
    expect(await vloc.jobs()).toEqual([0, 0, 1, 0]);
    expect(vloc.has('out/good.es.mp4')).toBe(true);
    const status = await vloc.run(['batch', 'status', 'out', '--all', '-o', 'json']);
    expect(JSON.parse(status.stdout).counts).toMatchObject({ failed: 1 });
  });
});
