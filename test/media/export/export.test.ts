import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeWarnings } from '../../../src/batch/report/provenance.ts';
import {
  type ExportTask,
  exportVideo,
  prepareExport,
  softLines,
  threeLetterCode,
} from '../../../src/media/export/export.ts';
import { createPrograms } from '../../../src/media/programs/programs.ts';
import {
  createWork,
  detectFields,
  ffmpeg,
  ffprobe,
  programs,
  temporaryFolder,
} from '../../engines/workspace.ts';
import { askProgram } from '../../support/remembered-programs.ts';

const SECONDS = 3;
const lines = [
  { index: 1, start_ms: 500, end_ms: 2_500, text: 'Hola {\\fs500} <i>mundo</i>\n--> %d [x]:=;\'"' },
];
const PICTURE = ['-f', 'lavfi', '-i', `testsrc=s=320x180:r=25:d=${SECONDS}`];
/** 50 pictures a second, for the fields of interlaced video: a second of them, in the only size of DV. */
const MOVING = ['-f', 'lavfi', '-i', 'testsrc2=s=720x576:r=50:d=1'];
/** A tone left and right, as an original; another in the background; a third as a dub, from 1 s to 2 s. */
const SOUND = ['-f', 'lavfi', '-i', `sine=f=400:d=${SECONDS},pan=stereo|c0=c0|c1=c0`];

function media(
  name = 'source.mp4',
  options: string[] = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'],
  picture: string[] = PICTURE,
) {
  const folder = temporaryFolder();
  const [video, background, dub] = [name, 'background.wav', 'dub.wav'].map((file) => join(folder, file));
  if (video === undefined || background === undefined || dub === undefined) throw new Error('unreachable');
  ffmpeg(...picture, ...SOUND, ...options, video);
  ffmpeg(
    '-f',
    'lavfi',
    '-i',
    `sine=f=1000:d=${SECONDS}`,
    '-af',
    'volume=-12dB',
    '-ar',
    '48000',
    '-ac',
    '2',
    background,
  );
  const spoken = "aevalsrc='between(t,1,2)*0.3*sin(2*PI*3000*t)':s=48000:d=2";
  ffmpeg('-f', 'lavfi', '-i', spoken, '-ac', '1', '-c:a', 'pcm_s16le', dub);
  return { folder, video, background, dub };
}

type Media = ReturnType<typeof media>;

function dubbed(
  { background, dub }: Media,
  originalAudio: 'background' | 'duck' | 'mute',
): ExportTask['sound'] {
  return { type: 'dubbed', dub, background, originalAudio };
}

async function run(source: Media, task: Partial<ExportTask>) {
  const work = createWork(source.folder);
  const { video, durationSeconds, use } = await exportVideo(
    programs,
    {
      video: source.video,
      sound: dubbed(source, 'background'),
      subtitle: { language: 'es', lines },
      subtitleOutput: 'none',
      resolution: 'source',
      ...task,
    },
    work,
  );
  return { path: video.path, durationSeconds, use, work };
}

/** All decoded pictures: their hashes, and their display times in seconds from the first. */
function frames(file: string): { sums: readonly string[]; times: readonly number[] } {
  const args = ['-v', 'error', '-i', file, '-map', '0:V', '-vsync', 'passthrough'];
  const rows = askProgram('ffmpeg', [...args, '-enc_time_base', '1/90000', '-f', 'framemd5', '-'])
    .toString()
    .split('\n')
    .filter((row) => /^\d/.test(row))
    .map((row) => row.split(','));
  const times = rows.map((row) => Number.parseInt(row[2] ?? '', 10) / 90_000);
  return {
    sums: rows.map((row) => row.at(-1)?.trim() ?? ''),
    times: times.map((time) => time - (times[0] ?? 0)),
  };
}
const pictures = (file: string) => frames(file).sums;

/** Level of a tone in a stretch of the left channel, in decibels below full scale: its part of the Fourier transform. */
function toneLevel(file: string, frequency: number, from: number, to: number): number {
  const rate = 48_000;
  const args = [
    '-v',
    'error',
    '-i',
    file,
    '-map',
    '0:a',
    '-ac',
    '2',
    '-ar',
    String(rate),
    '-f',
    'f32le',
    '-',
  ];
  const bytes = askProgram('ffmpeg', args);
  const length = Math.round((to - from) * rate);
  let [real, imaginary] = [0, 0];
  for (let at = 0; at < length; at += 1) {
    const sample = bytes.readFloatLE((Math.round(from * rate) + at) * 8);
    const phase = (2 * Math.PI * frequency * at) / rate;
    real += sample * Math.cos(phase);
    imaginary += sample * Math.sin(phase);
  }
  const rootMeanSquare = (Math.SQRT2 * Math.hypot(real, imaginary)) / length;
  return 20 * Math.log10(Math.max(rootMeanSquare, 1e-10));
}

describe('an export', () => {
  test('copies the picture frame by frame, lasts as long as the input and reports its progress', async () => {
    const source = media();
    const { path, durationSeconds, work } = await run(source, {});
    expect(pictures(path)).toEqual(pictures(source.video));
    expect(Math.abs(durationSeconds - SECONDS)).toBeLessThan(0.04);
    const entries = 'stream=codec_name,duration:stream_tags=language';
    const [codec, duration, language] = ffprobe(path, entries, 'a:0').split('\n');
    expect([codec, language]).toEqual(['aac', 'spa']);
    expect(Math.abs(Number(duration) - SECONDS)).toBeLessThan(0.04);
    expect(work.reports.at(-1)?.fraction).toBeGreaterThan(0.9);
  });

  test('is the same file if the original was measured before the dub was made', async () => {
    const source = media();
    const sound = { background: source.background, originalAudio: 'background' } as const;
    const prepared = await prepareExport(programs, source.video, sound, createWork(source.folder));
    const early = readFileSync((await run(source, { prepared })).path);
    expect(readFileSync((await run(source, {})).path).equals(early)).toBe(true);
  });

  test('puts the index first, so that playing can start before all is loaded', async () => {
    const { path } = await run(media(), { sound: { type: 'original' } });
    const trace = execFileSync('sh', ['-c', 'ffprobe -v trace "$1" 2>&1', 'sh', path], { encoding: 'utf8' });
    expect(trace.indexOf("type:'moov'")).toBeGreaterThan(0);
    expect(trace.indexOf("type:'moov'")).toBeLessThan(trace.indexOf("type:'mdat'"));
  });

  test('keeps the rotation of a phone', async () => {
    const source = media();
    const rotated = join(source.folder, 'rotated.mp4');
    ffmpeg('-i', source.video, '-c', 'copy', '-metadata:s:v:0', 'rotate=90', rotated);
    const rotation = ffprobe(rotated, 'stream_side_data=rotation', 'v:0');
    expect(rotation).toBe('90');
    const copied = await run({ ...source, video: rotated }, { sound: { type: 'original' } });
    expect(ffprobe(copied.path, 'stream_side_data=rotation', 'v:0')).toBe(rotation);
    const scaled = await run(
      { ...source, video: rotated },
      { subtitleOutput: 'burned', sound: { type: 'original' } },
    );
    expect(ffprobe(scaled.path, 'stream=width,height', 'v:0')).toBe('180\n320');
  });

  test.each([['source.mpg', ['-c:v', 'mpeg2video', '-bf', '2', '-c:a', 'mp2']]])(
    'encodes again what players of MP4 do not play, and says so: %s',
    async (name, options) => {
      const source = media(name, options);
      const { path, durationSeconds, use } = await run(source, { sound: { type: 'original' } });
      expect(use?.step).toBe('export');
      expect(ffprobe(path, 'stream=codec_name')).toBe('h264\naac');
      expect(Math.abs(durationSeconds - SECONDS)).toBeLessThan(0.15); // the frames of MP2 and MP3 are padded
    },
  );

  test.each([
    ['packed.avi', ['-c:v', 'libxvid', '-bf', '2', '-c:a', 'mp3', '-ar', '44100']],
    ['baseline.avi', ['-c:v', 'libx264', '-bf', '0', '-c:a', 'mp3', '-ar', '44100']],
  ])('copies what an MP4 can contain, each frame at a time of its own: %s', async (name, options) => {
    const source = media(name, [...options, '-pix_fmt', 'yuv420p']);
    const { path, use } = await run(source, { sound: { type: 'original' } });
    expect(use).toBeNull();
    const [before, after] = [frames(source.video), frames(path)];
    expect(after.sums).toEqual(before.sums);
    expect(new Set(ffprobe(path, 'packet=pts', 'v:0').split('\n')).size).toBe(before.times.length);
    const drift = after.times.map((time, at) => Math.abs(time - (before.times[at] ?? Number.NaN)));
    // The packed stream has its first time one frame late; no other frame moves.
    expect(Math.max(...drift)).toBeLessThan(0.05);
  });

  test.each([
    ['tape.avi', ['-s', '720x576', '-c:v', 'dvvideo', '-c:a', 'pcm_s16le', '-ar', '48000'], 'none'],
    [
      'field.mp4',
      [
        '-c:v',
        'libx264',
        '-preset',
        'ultrafast',
        '-flags',
        '+ilme+ildct',
        '-x264opts',
        'tff=1',
        '-c:a',
        'aac',
      ],
      'burned',
    ],
  ] as const)('deinterlaces a picture that it encodes: %s', async (name, codec, subtitleOutput) => {
    const order = name === 'tape.avi' ? ['interleave_bottom', 'bff'] : ['interleave_top', 'tff'];
    const fields = `fps=50,scale=720:576,tinterlace=${order[0]},fieldorder=${order[1]}`;
    const source = media(name, ['-vf', fields, '-pix_fmt', 'yuv420p', ...codec, '-shortest'], MOVING);
    const before = detectFields(source.video);
    expect(before.combed).toBeGreaterThan(20);
    const { path } = await run(source, { subtitleOutput, sound: { type: 'original' } });
    expect(ffprobe(path, 'stream=field_order', 'v:0')).toBe('progressive');
    const after = detectFields(path);
    // The detector takes a few of 25 progressive frames for combed.
    expect(after.combed).toBeLessThan(6);
    expect(after.frames).toBe(before.frames);
  });

  test('keeps each frame of a variable frame rate at its time', async () => {
    const varying = ['-vf', "select='not(mod(n,3))+gt(n,40)',setpts=PTS+0.004*random(0)/TB", '-vsync', 'vfr'];
    const codec = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'];
    const rate = ['-enc_time_base', '1/1000', ...codec];
    const source = media('phone.mp4', [...varying, ...rate]);
    const { path } = await run(source, { subtitleOutput: 'burned', sound: { type: 'original' } });
    const { times: before } = frames(source.video);
    const { times: after } = frames(path);
    expect(after).toHaveLength(before.length);
    for (const [at, time] of after.entries()) expect(time).toBeCloseTo(before[at] ?? Number.NaN, 2);
  });

  test('keeps 10 bits of a standard picture', async () => {
    const source = media('deep.mp4', [
      ...['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error'],
      ...['-pix_fmt', 'yuv420p10le', '-c:a', 'aac'],
    ]);
    const { path } = await run(source, { subtitleOutput: 'burned', sound: { type: 'original' } });
    expect(ffprobe(path, 'stream=codec_name,pix_fmt', 'v:0')).toBe('hevc\nyuv420p10le');
  });

  test.each(['none', 'burned'] as const)('keeps the cover, with %s subtitles', async (subtitleOutput) => {
    const source = media();
    const covered = join(source.folder, 'covered.mp4');
    const cover = join(source.folder, 'cover.png');
    ffmpeg('-f', 'lavfi', '-i', 'color=red:s=64x64', '-frames:v', '1', cover);
    const maps = ['-map', '0', '-map', '1', '-c', 'copy', '-disposition:v:1', 'attached_pic'];
    ffmpeg('-i', source.video, '-i', cover, ...maps, covered);
    const { path } = await run({ ...source, video: covered }, { subtitleOutput });
    const found = ffprobe(path, 'stream=codec_name,width:stream_disposition=attached_pic', 'v');
    expect(found.split('\n')).toEqual(['h264', '320', '0', 'png', '64', '1']);
  });
});

test('an encoder that runs out of memory is not tried again', async () => {
  const source = media();
  // The words of x264 in 600 MiB of address space.
  const words = 'x264 [error]: malloc of size 7088768 failed';
  writeFileSync(join(source.folder, 'ffmpeg'), `#!/bin/sh\necho '${words}' >&2\nexit 1\n`, { mode: 0o755 });
  const small = createPrograms(`${source.folder}:${process.env.PATH}`);
  const task = {
    video: source.video,
    sound: { type: 'original' },
    subtitle: { language: 'es', lines },
    subtitleOutput: 'burned',
    resolution: 'source',
  } as const;
  await expect(exportVideo(small, task, createWork(source.folder))).rejects.toMatchObject({
    code: 'MEDIA_UNSUPPORTED',
    retryable: false,
    message: expect.stringContaining('choose a lower resolution'),
  });
});

describe('the original sound', () => {
  test('is replaced by the background', async () => {
    const { path } = await run(media(), {});
    expect(toneLevel(path, 1000, 0.2, 0.8)).toBeGreaterThan(-40);
    expect(toneLevel(path, 3000, 1.2, 1.8)).toBeGreaterThan(-30);
    expect(toneLevel(path, 400, 0.2, 2.8)).toBeLessThan(-50);
  });

  test('is lowered while the dub speaks and restored after it, also after its end', async () => {
    const source = media();
    const { path, durationSeconds } = await run(source, { sound: dubbed(source, 'duck') });
    const before = toneLevel(path, 400, 0.2, 0.9);
    // Speech, which has higher peaks than a tone, lowers it by about 12 dB.
    expect(toneLevel(path, 400, 1.3, 1.9)).toBeLessThan(before - 6);
    expect(Math.abs(toneLevel(path, 400, 2.7, 2.95) - before)).toBeLessThan(2);
    expect(Math.abs(durationSeconds - SECONDS)).toBeLessThan(0.04);
  });

  test('is silenced', async () => {
    const source = media();
    const { path, durationSeconds } = await run(source, { sound: dubbed(source, 'mute') });
    expect(toneLevel(path, 400, 0.2, 0.8)).toBeLessThan(-80);
    expect(toneLevel(path, 3000, 1.2, 1.8)).toBeGreaterThan(-30);
    expect(Math.abs(durationSeconds - SECONDS)).toBeLessThan(0.04);
  });

  test('is unchanged if only subtitles are added', async () => {
    const source = media();
    const { path } = await run(source, { sound: { type: 'original' }, subtitleOutput: 'soft' });
    const sound = (file: string) =>
      askProgram('ffmpeg', ['-v', 'error', '-i', file, '-map', '0:a', '-f', 'md5', '-']).toString();
    expect(sound(path)).toBe(sound(source.video));
  });
});

describe('subtitles', () => {
  test('soft ones are a track in the language, with unchanged text', async () => {
    const { path } = await run(media(), { subtitleOutput: 'soft', sound: { type: 'original' } });
    expect(ffprobe(path, 'stream=codec_name:stream_tags=language', 's:0')).toBe('mov_text\nspa');
    const srt = askProgram('ffmpeg', ['-v', 'error', '-i', path, '-map', '0:s', '-f', 'srt', '-']).toString();
    expect(srt.replaceAll('\r', '')).toContain('00:00:00,500 --> 00:00:02,500\nHola mundo\n→ %d [x]:=;\'"');
  });

  test('soft ones that all begin after the end make no track', async () => {
    const subtitle = {
      language: 'es',
      lines: [{ index: 1, start_ms: 20_000, end_ms: 22_000, text: 'hola' }],
    };
    const { path, durationSeconds } = await run(media(), {
      subtitleOutput: 'soft',
      subtitle,
      sound: { type: 'original' },
    });
    expect(Math.abs(durationSeconds - SECONDS)).toBeLessThan(0.04);
    expect(ffprobe(path, 'stream=codec_type')).toBe('video\naudio');
  });

  test('burned ones are in the picture while they are shown, and make no track', async () => {
    const source = media();
    const { path } = await run(source, { subtitleOutput: 'burned', sound: { type: 'original' } });
    expect(ffprobe(path, 'stream=codec_type')).toBe('video\naudio');
    const difference = (from: number, to: number) => {
      const crop = 'crop=iw:ih/4:0:ih*3/4'; // the lowest quarter, where subtitles are
      const filter = `[0:v]trim=${from}:${to},${crop}[a];[1:v]trim=${from}:${to},${crop}[b];[a][b]psnr`;
      const args = [
        '-hide_banner',
        '-nostats',
        '-i',
        source.video,
        '-i',
        path,
        '-lavfi',
        filter,
        '-f',
        'null',
        '-',
      ];
      const stderr = execFileSync('sh', ['-c', 'ffmpeg "$@" 2>&1', 'sh', ...args], { encoding: 'utf8' });
      return Number.parseFloat(/average:([\d.]+)/.exec(stderr)?.[1] ?? '0');
    };
    expect(difference(0, 0.4)).toBeGreaterThan(30);
    expect(difference(1, 2)).toBeLessThan(25);
  });

  test('burned ones with a character that no font has name it', async () => {
    // Cypro-Minoan, which is in Unicode since 2021.
    const letter = String.fromCodePoint(0x12f90);
    const rare = [{ index: 1, start_ms: 0, end_ms: 1_000, text: `the quick brown fox ${letter}` }];
    const subtitle = { language: 'en', lines: rare };
    const { use } = await run(media(), { subtitleOutput: 'burned', subtitle, sound: { type: 'original' } });
    expect(use?.unshown).toEqual([letter]);
    expect(describeWarnings({ engines: use === null ? [] : [use], cues: [] })).toEqual([
      expect.stringMatching(/no font where the export ran has .* \(U\+12F90\).*fonts-symbola/),
    ]);
  });

  test('a smaller picture is scaled, with them burned into the small one', async () => {
    const source = media('large.mp4', [
      '-r',
      '5',
      '-vf',
      'scale=1280:720',
      '-c:v',
      'libx264',
      '-preset',
      'ultrafast',
      '-c:a',
      'aac',
    ]);
    const { path } = await run(source, {
      subtitleOutput: 'burned',
      resolution: '480p',
      sound: { type: 'original' },
    });
    expect(ffprobe(path, 'stream=width,height', 'v:0')).toBe('854\n480');
  });
});

test.each([
  ['es', 'spa'],
  ['es-419', 'spa'],
  ['zh-Hans', 'zho'],
  ['de', 'deu'],
  ['yue', 'yue'],
  ['x', 'und'],
])('%s is %s', (tag, code) => {
  expect(threeLetterCode(tag)).toBe(code);
});

test('every code means the language that it is listed for', () => {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const tags = letters.flatMap((first) => letters.map((second) => first + second));
  const known = tags.map((tag) => [tag, threeLetterCode(tag)] as const).filter(([, code]) => code !== 'und');
  expect(known.length).toBeGreaterThan(100);
  // BCP 47 writes a language with two letters where there are two: the three lead back to them.
  for (const [tag, code] of known) {
    expect(new Intl.Locale(code).language).toBe(new Intl.Locale(tag).language);
  }
});

const line = (index: number, start_ms: number, end_ms: number) => ({
  index,
  start_ms,
  end_ms,
  text: '<i>a</i>',
});

test('lines end with the video at the latest, and those after its end are omitted', () => {
  const lines = softLines([line(1, 0, 900), line(2, 950, 3000), line(3, 1000, 2000)], 1.0005);
  expect(lines.map(({ start_ms, end_ms }) => [start_ms, end_ms])).toEqual([
    [0, 900],
    [950, 1000],
  ]);
});

test('markup that players would show as text is removed', () => {
  expect(softLines([line(1, 0, 900)], 1)).toMatchObject([{ text: 'a' }]);
});
