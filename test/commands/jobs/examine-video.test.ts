/** One file for each thing that a command can do with a video; test/media/convert has the containers and codecs. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ffmpeg, ffprobe } from '../../engines/workspace.ts';
import { openMediaDesk } from './desk.ts';

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=s=160x120:r=25:d=1'];
const TONE = ['-f', 'lavfi', '-i', 'sine=f=220:r=48000:d=1'];
const TWO = [...TONE, ...TONE, '-map', '0:v', '-map', '1:a', '-map', '2:a'];
const H264 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast'];
const MP4 = [...H264, '-c:a', 'aac'];
const UNEVEN = ['-vf', "select='lt(n,10)+not(mod(n,3))'", '-fps_mode', 'vfr'];
const PATIENCE = { timeout: 300_000 };

/** Name, how ffmpeg makes it, what is said without --convert, and what with it. */
const TABLE: [name: string, options: string[], refusal: RegExp | null, note: RegExp | null][] = [
  ['plain.mp4', [...TONE, ...MP4], null, null],
  ['talk.mkv', [...TONE, ...MP4], /MKV and WebM files .*--convert makes an MP4 of it, without/, /remuxed/],
  [
    'two.mp4',
    [...TWO, ...MP4],
    /2 audio tracks; choose one with --audio-track N.*: 1 \(aac\); 2 \(aac\)/,
    null,
  ],
];

describe('a file of the kind', PATIENCE, () => {
  it.each(TABLE)('%s is accepted, or refused with what to do', async (name, options, refusal, note) => {
    const desk = await openMediaDesk();
    ffmpeg(...PICTURE, ...options, join(desk.folder, name));
    const words = ['localize', name, '--from', 'en', '--to', 'es', '--out', 'out'];
    const plain = await desk.vloc(words);
    expect(plain.code, plain.stderr).toBe(refusal === null ? 0 : 2);
    if (refusal !== null) {
      expect(plain.stderr).toMatch(refusal);
      expect(desk.count('createUpload')).toBe(0);
    }
    const converted = await desk.vloc([...words, '--convert']);
    const isHopeless = note?.source === '^$';
    expect(converted.code, converted.stderr).toBe(isHopeless ? 2 : 0);
    if (isHopeless) return;
    if (note === null) expect(converted.stderr).not.toMatch(/remuxed|transcoded/);
    else expect(converted.stderr).toMatch(note);
    const result = join(desk.folder, 'out', name.replace(/\.\w+$/, '.es.mp4'));
    expect(existsSync(result)).toBe(true);
    expect(desk.count('createAutoLocalization')).toBe(1);
    // Only unsupported files are converted: their result is a copy of what was sent.
    if (note !== null) expect(ffprobe(result, 'format=format_name')).toContain('mp4');
  });
});

describe('a video that is too long and needs more than cutting', PATIENCE, () => {
  const LONG = [
    '-f',
    'lavfi',
    '-i',
    'testsrc=s=160x120:r=25:d=6',
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

describe('an audio track', PATIENCE, () => {
  it('that is selected is the one that is sent, and another one is another result', async () => {
    const desk = await openMediaDesk();
    const sounds = [...TONE, '-f', 'lavfi', '-i', 'sine=f=880:r=48000:d=1'];
    const maps = ['-map', '0:v', '-map', '1:a', '-map', '2:a', '-metadata:s:a:1', 'language=spa'];
    ffmpeg(...PICTURE, ...sounds, ...maps, ...MP4, join(desk.folder, 'two.mp4'));
    const words = ['localize', 'two.mp4', '--from', 'en', '--to', 'es', '--out', 'out'];
    const { code, stderr } = await desk.vloc([...words, '--audio-track', '2']);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('audio track 2 (Spanish, aac) is used, as requested');
    expect(ffprobe(join(desk.folder, 'out', 'two.es.mp4'), 'stream_tags=language', 'a')).toBe('spa');
    const other = await desk.vloc([...words, '--audio-track', '1']);
    expect(other.code).toBe(2);
    expect(other.stderr).toContain('audio track 2 → 1');
  });
});

it(
  'a folder with a file that could be converted runs the rest, and says how to convert',
  PATIENCE,
  async () => {
    const desk = await openMediaDesk();
    ffmpeg(...PICTURE, ...TONE, ...MP4, join(desk.folder, 'a.mp4'));
    ffmpeg(...PICTURE, ...TONE, ...MP4, join(desk.folder, 'b.mkv'));
    writeFileSync(join(desk.folder, 'notes.txt'), 'notes');
    const words = ['recognize', '.', '--out', '../out'];
    const { code, stderr } = await desk.vloc(words);
    expect(code).toBe(3);
    expect(stderr).toContain('b.mkv: the service does not accept MKV');
    expect(stderr).toContain('--convert');
    expect((await desk.vloc([...words, '--convert', '--dry-run'])).stdout).toMatch(
      /b\.mkv\s+-\s+new, remuxed/,
    );
  },
);
