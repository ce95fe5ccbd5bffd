/** Whole videos through ffmpeg. What is quick to ask is in `export.test.ts`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeWarnings } from '../../../src/batch/item-provenance.ts';
import {
  type ExportTask,
  exportLocalized,
  exportVideo,
  prepareExport,
} from '../../../src/media/export/export.ts';
import { readSoftSubtitles } from '../../../src/media/subtitles/read-subtitle.ts';
import { createWork, ffmpeg, ffprobe, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { askProgram } from '../../support/remembered-programs.ts';

const SECONDS = 3;
const lines = [
  { index: 1, start_ms: 500, end_ms: 2_500, text: 'Hola {\\fs500} <i>mundo</i>\n--> %d [x]:=;\'"' },
];
const PICTURE = ['-f', 'lavfi', '-i', `testsrc=s=160x90:r=10:d=${SECONDS}`];
/** A tone left and right, as an original; another in the background, which ends too early; a third as a dub, from 1 s to 2 s. */
const SOUND = ['-f', 'lavfi', '-i', `sine=f=400:d=${SECONDS},pan=stereo|c0=c0|c1=c0`];
const H264 = ['-pix_fmt', 'yuv420p', '-c:v:0', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'];
const DATE = '2021-03-04T05:06:07.000000Z';

/** With a cover. */
const COVERED = [
  ...['-f', 'lavfi', '-t', '0.04', '-i', 'color=red:s=64x64', '-map', '0', '-map', '1', '-map', '2'],
  ...['-c:v:1', 'png', '-disposition:v:1', 'attached_pic'],
];

function media(name: string, options: string[] = H264, picture: string[] = PICTURE) {
  const folder = makeFolder();
  const video = join(folder, name);
  ffmpeg(...picture, ...SOUND, ...options, video);
  return { folder, video };
}

/** As a phone stores it, with its date. */
function phone(options: string[]) {
  const { folder, video: upright } = media('upright.mp4', [...COVERED, ...options]);
  const video = join(folder, 'phone.mp4');
  const tags = ['-metadata:s:v:0', 'rotate=90', '-metadata', `creation_time=${DATE}`];
  ffmpeg('-i', upright, '-map', '0', '-c', 'copy', ...tags, video);
  return { folder, video };
}

type Media = ReturnType<typeof media>;

function dubbed({ folder }: Media, originalAudio: 'background' | 'duck' | 'mute') {
  const [background, dub] = [join(folder, 'background.wav'), join(folder, 'dub.wav')];
  const tone = `sine=f=1000:d=${SECONDS - 0.5},volume=-12dB`;
  ffmpeg('-f', 'lavfi', '-i', tone, '-ar', '48000', '-ac', '2', background);
  const spoken = "aevalsrc='between(t,1,2)*0.3*sin(2*PI*3000*t)':s=48000:d=2";
  ffmpeg('-f', 'lavfi', '-i', spoken, '-ac', '1', '-c:a', 'pcm_s16le', dub);
  return { type: 'dubbed', dub, background, originalAudio } as const;
}

async function run(source: Media, task: Partial<ExportTask>) {
  const work = createWork(source.folder);
  const { path, uses } = await exportVideo(
    programs,
    {
      video: source.video,
      sound: { type: 'original' },
      subtitle: { language: 'es', lines },
      subtitleOutput: 'none',
      resolution: 'source',
      ...task,
    },
    work,
  );
  return { path, use: uses[0] ?? null, uses, work };
}

/** All decoded pictures of two files: their hashes, and their display times in seconds from the first. */
function compareFrames(...files: [string, string]) {
  const maps = files.flatMap((_, at) => ['-map', `${at}:V`]);
  const args = ['-v', 'error', ...files.flatMap((file) => ['-i', file]), ...maps, '-vsync', 'passthrough'];
  const rows = askProgram('ffmpeg', [...args, '-enc_time_base', '1/90000', '-f', 'framemd5', '-'])
    .toString()
    .split('\n')
    .filter((row) => /^\d/.test(row))
    .map((row) => row.split(',').map((cell) => cell.trim()));
  const [before, after] = ['0', '1'].map((stream) => {
    const own = rows.filter((row) => row[0] === stream);
    const times = own.map((row) => Number(row[2]) / 90_000);
    return { sums: own.map((row) => row.at(-1)), times: times.map((time) => time - (times[0] ?? 0)) };
  });
  if (before === undefined || after === undefined) throw new Error('unreachable');
  const drift = after.times.map((time, at) => Math.abs(time - (before.times[at] ?? Number.NaN)));
  return { before, after, drift: Math.max(...drift) };
}

/** Returns the level of a tone in a stretch of the left channel, in decibels below full scale: its part of the Fourier transform. */
function listenTo(file: string) {
  const rate = 48_000;
  const output = ['-map', '0:a', '-ac', '2', '-ar', String(rate), '-f', 'f32le', '-'];
  const bytes = askProgram('ffmpeg', ['-v', 'error', '-i', file, ...output]);
  return (frequency: number, from: number, to: number): number => {
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
  };
}

describe('an export', () => {
  test('copies the picture of a phone frame by frame with its cover and its date, lasts as long as the input, replaces the original sound by the background, adds soft subtitles with unchanged text and reports its progress', async () => {
    const source = phone(H264);
    const [{ video }, sound] = [source, dubbed(source, 'background')];
    const prepared = await prepareExport(programs, video, sound, createWork(source.folder));
    const { path, work } = await run(source, { sound, subtitleOutput: 'soft', prepared });
    const { before, after } = compareFrames(video, path);
    expect(after.sums).toHaveLength(10 * SECONDS);
    expect(after.sums).toEqual(before.sums);
    expect(work.reports.at(-1)?.fraction).toBeGreaterThan(0.9);
    const streams = 'stream=codec_name,duration:stream_tags=language:stream_side_data=rotation';
    const entries = `${streams}:stream_disposition=attached_pic:format=duration:format_tags=creation_time`;
    const found = ffprobe(path, entries).split('\n');
    expect(found.filter((value) => !/^\d+\.\d+$/.test(value))).toEqual([
      ...['h264', '0', 'und', '90', 'aac', '0', 'spa', 'mov_text', '0', 'spa', 'png', '1', DATE],
    ]);
    // Of picture, sound and file.
    for (const at of [found.indexOf('h264') + 1, found.indexOf('aac') + 1, found.length - 2])
      expect(Math.abs(Number(found[at]) - SECONDS)).toBeLessThan(0.04);
    const level = listenTo(path);
    expect(level(1000, 0.2, 0.8)).toBeGreaterThan(-40);
    expect(level(3000, 1.2, 1.8)).toBeGreaterThan(-30);
    expect(level(400, 0.2, 2.8)).toBeLessThan(-50);
    const text = 'Hola mundo\n→ %d [x]:=;\'"';
    expect(await readSoftSubtitles(programs, path, work)).toEqual([{ ...lines[0], text }]);
    // Playing can start before all is loaded.
    const bytes = readFileSync(path);
    expect(bytes.indexOf('moov')).toBeGreaterThan(0);
    expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
  });

  test('copies what an MP4 can contain, each frame at a time of its own', async () => {
    const picture = ['-f', 'lavfi', '-i', 'testsrc=s=160x90:r=25:d=1'];
    // Frames that share a packet (DivX), without times of display.
    const packed = ['-c:v', 'libxvid', '-bf', '2', '-c:a', 'mp3', '-ar', '44100', '-pix_fmt', 'yuv420p'];
    const source = media('packed.avi', [...packed, '-t', '1'], picture);
    const { path, use } = await run(source, {});
    expect(use).toBeNull();
    const { before, after, drift } = compareFrames(source.video, path);
    expect(after.sums).toEqual(before.sums);
    const found = ffprobe(path, 'stream=codec_name:packet=pts', 'v:0').split('\n');
    expect(found.at(-1)).toBe('mpeg4');
    expect(new Set(found.slice(0, -1)).size).toBe(before.times.length);
    // The first time is one frame late; no other frame moves.
    expect(drift).toBeLessThan(0.05);
  });

  test('that burns subtitles in shows them in time in the picture of a phone, whose 10 bits, variable rate, shape and cover it keeps; it makes no track, and names a character that no font has', async () => {
    const varying = ['-vf', "select='not(mod(n,3))+gt(n,15)',setpts=PTS+0.004*random(0)/TB", '-vsync', 'vfr'];
    const source = phone([
      ...varying.map((word) => (word === '-vf' ? '-filter:v:0' : word)),
      ...['-enc_time_base', '1/1000', '-pix_fmt:v:0', 'yuv420p10le', '-c:a', 'aac'],
      ...['-c:v:0', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=error'],
    ]);
    // Cypro-Minoan, which is in Unicode since 2021.
    const letter = String.fromCodePoint(0x12f90);
    const rare = { index: 2, start_ms: 500, end_ms: 1_000, text: `the quick brown fox ${letter}` };
    const subtitle = { language: 'es', lines: [...lines, rare] };
    const { path, use } = await run(source, { subtitleOutput: 'burned', subtitle });
    expect(use?.unshown).toEqual([letter]);
    expect(describeWarnings({ engines: use === null ? [] : [use], cues: [] })).toEqual([
      expect.stringMatching(/no font where the export ran has .* \(U\+12F90\).*fonts-symbola/),
    ]);
    const { before, after, drift } = compareFrames(source.video, path);
    expect(after.times).toHaveLength(before.times.length);
    expect(drift).toBeLessThan(0.005);
    const found = ffprobe(path, 'stream=codec_name,width,height,pix_fmt:stream_disposition=attached_pic');
    expect(found.split('\n')).toEqual([
      ...['hevc', '90', '160', 'yuv420p10le', '0', 'aac', '0', 'png', '64', '64', 'rgb24', '1'],
    ]);
    // The lowest quarter, where subtitles are; the same frames, whatever their times.
    const crop = 'settb=1/10,setpts=N,format=yuv420p,crop=iw:ih/4:0:ih*3/4';
    const filter = `[0:v:0]${crop}[a];[1:v:0]${crop}[b];[a][b]psnr=stats_file=-`;
    const both = ['-v', 'error', '-i', source.video, '-i', path, '-lavfi', filter, '-f', 'null', '/dev/null'];
    const rows = askProgram('ffmpeg', both)
      .toString()
      .matchAll(/psnr_avg:(\S+)/g);
    const likeness = [...rows].map(([, value = '']) => Number(value.replace('inf', 'Infinity')));
    expect(likeness).toHaveLength(after.times.length);
    const between = (from: number, to: number) =>
      likeness.filter((_, at) => (after.times[at] ?? 0) >= from && (after.times[at] ?? 0) < to);
    expect(Math.min(...between(0, 0.5), ...between(2.6, 3))).toBeGreaterThan(30);
    expect(Math.max(...between(1, 2))).toBeLessThan(25);
  });
});

describe('an export from a file of the user', () => {
  const options = { subtitleOutput: 'soft', originalAudio: 'mute', resolution: 'source' } as const;
  const late = { index: 2, start_ms: 20_000, end_ms: 22_000, text: 'tarde' };
  const subtitle = { language: 'es', lines: [...lines, late] };

  test('converts a container that the service does not accept, silences the original, is no longer for speech and subtitles beyond the picture, and says what it lacks', async () => {
    const { folder, video } = media('talk.mkv');
    const dub = join(folder, 'long.wav');
    ffmpeg('-f', 'lavfi', '-i', 'sine=f=3000:r=48000:d=5', '-ac', '1', dub);
    const parts = { video, track: 1, dub, background: null, subtitle };
    const { path, cut } = await exportLocalized(programs, parts, options, createWork(makeFolder()));
    const [picture, sound, text, lasts] = ffprobe(path, 'stream=codec_name:format=duration').split('\n');
    expect([picture, sound, text]).toEqual(['h264', 'aac', 'mov_text']);
    expect(Math.abs(Number(lasts) - Number(ffprobe(video, 'format=duration')))).toBeLessThan(0.03);
    const level = listenTo(path);
    expect(level(400, 0.2, 0.8)).toBeLessThan(-80);
    expect(level(3000, 0.2, 0.8)).toBeGreaterThan(-30);
    // The cue that is spoken at the end, and the one after it.
    expect(cut?.cues).toEqual([1, 2]);
    expect(cut?.seconds).toBeCloseTo(2, 1);
  });
});

test('the original sound is lowered while the dub speaks and restored after it, also after its end; that surround sound becomes stereo is said, and that a picture is encoded which MP4 does not have', async () => {
  const six = ['-af', 'pan=5.1|FC=c0|FL=0.2*c0', '-c:v', 'mjpeg', '-c:a', 'aac', '-aac_coder', 'fast'];
  const source = media('surround.mov', six);
  const { path, uses } = await run(source, { sound: dubbed(source, 'duck') });
  const use = { step: 'export', engine: 'ffmpeg', skipped: [] };
  expect(uses).toEqual([use, { ...use, mixed: 6 }]);
  const entries = 'stream=codec_name,channels:format=duration';
  const [picture, codec, channels, duration] = ffprobe(path, entries).split('\n');
  expect([picture, codec, channels]).toEqual(['h264', 'aac', '2']);
  expect(Math.abs(Number(duration) - SECONDS)).toBeLessThan(0.04);
  const level = listenTo(path);
  const before = level(400, 0.2, 0.9);
  // Speech, which has higher peaks than a tone, lowers it by about 12 dB.
  expect(level(400, 1.3, 1.9)).toBeLessThan(before - 6);
  expect(Math.abs(level(400, 2.7, 2.95) - before)).toBeLessThan(2);
});
