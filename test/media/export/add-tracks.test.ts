import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AddTracksTask, addTracks } from '../../../src/media/export/add-tracks.ts';
import { readFacts } from '../../../src/media/probe/facts.ts';
import { createWork, ffmpeg, ffprobe, programs } from '../../engines/workspace.ts';
import { askProgram } from '../../support/remembered-programs.ts';

const PICTURE = ['-f', 'lavfi', '-i', 'testsrc=s=64x48:r=25:d=1'];
const H264 = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-shortest'];
const tone = (hertz: number, seconds = 1) => ['-f', 'lavfi', '-i', `sine=f=${hertz}:r=48000:d=${seconds}`];

const DATE = '2021-03-04T05:06:07.000000Z';

let folder: string;
const at = (name: string) => join(folder, name);

/** A finished video with a Spanish dub and subtitles, and an original with two audio tracks and English subtitles. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vloc-test-'));
  writeFileSync(at('es.srt'), '1\n00:00:00,100 --> 00:00:00,900\nhola\n');
  writeFileSync(at('en.srt'), '1\n00:00:00,100 --> 00:00:00,900\n<i>hello</i>\n');
  ffmpeg(
    ...[...PICTURE, ...tone(300), '-i', at('es.srt'), ...H264, '-c:a', 'aac', '-c:s', 'mov_text'],
    ...['-metadata:s:a:0', 'language=spa', '-metadata:s:s:0', 'language=spa', '-disposition:s:0', 'default'],
    ...['-metadata', `creation_time=${DATE}`],
    at('talk.es.mp4'),
  );
  ffmpeg(
    ...[...PICTURE, ...tone(500, 3), ...tone(700, 3), '-i', at('en.srt'), '-c:v', 'libx264'],
    ...['-map', '0', '-map', '1', '-map', '2', '-map', '3', '-c:a:0', 'aac', '-c:a:1', 'pcm_s16le'],
    ...['-metadata:s:a:1', 'language=eng', '-metadata:s:s:0', 'language=eng', at('talk.mkv')],
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const work = () => createWork(mkdtempSync(at('work-')));
const facts = (path: string) => readFacts(programs, path, work());
const add = (task: Partial<AddTracksTask>) =>
  addTracks(
    programs,
    {
      ...{ video: at('talk.es.mp4'), source: at('talk.mkv'), track: null, language: null },
      ...{ subtitles: false, lines: null, ...task },
    },
    work(),
  );

/** Digests of the packets of these streams as they are stored, in two files. */
function packetsOf(streams: [path: string, stream: string][]): string[][] {
  const files = [...new Set(streams.map(([path]) => path))];
  const maps = streams.flatMap(([path, stream]) => ['-map', `${files.indexOf(path)}:${stream}`]);
  const args = ['-v', 'error', ...files.flatMap((path) => ['-i', path]), ...maps, '-c', 'copy'];
  const rows = askProgram('ffmpeg', [...args, '-f', 'framemd5', '-'])
    .toString()
    .split('\n');
  return streams.map((_, at) =>
    rows.filter((row) => row.startsWith(`${at},`)).map((row) => row.split(',').at(-1) ?? ''),
  );
}

test('sound and subtitles of the original follow the new tracks, which are unchanged', async () => {
  const before = readFileSync(at('talk.mkv'));
  const { path, notes } = await add({ track: 2, subtitles: true });
  expect(notes).toEqual([]);
  expect(ffprobe(path, 'format_tags=creation_time')).toBe(DATE);
  const { tracks, subtitles, durationSeconds } = await facts(path);
  expect(tracks.map(({ codec, language, isDefault }) => [codec, language, isDefault])).toEqual([
    ['aac', 'spa', true],
    // MP4 players do not play PCM.
    ['aac', 'eng', false],
  ]);
  expect(subtitles.map(({ codec, language }) => [codec, language])).toEqual([
    ['mov_text', 'spa'],
    ['mov_text', 'eng'],
  ]);
  expect(ffprobe(path, 'stream_disposition=default', 's').split('\n')).toEqual(['1', '0']);
  const own = ['v:0', 'a:0', 's:0'];
  const both = [path, at('talk.es.mp4')].flatMap((file) =>
    own.map((stream): [string, string] => [file, stream]),
  );
  const packets = packetsOf(both);
  expect(packets.slice(0, 3)).toEqual(packets.slice(3));
  // The original sound continues for two seconds after the picture.
  expect(durationSeconds).toBeCloseTo(1, 1);
  expect(readFileSync(at('talk.mkv')).equals(before)).toBe(true);
});

test('sound that MP4 can contain is copied, and added subtitles follow those of the original', async () => {
  const lines = { language: 'en', lines: [{ index: 1, start_ms: 0, end_ms: 5000, text: '<b>good</b> day' }] };
  // The file does not state the language of its first track.
  const { path } = await add({ track: 1, language: 'en-US', subtitles: true, lines });
  const { tracks, subtitles, durationSeconds } = await facts(path);
  expect(tracks.map(({ language }) => language)).toEqual(['spa', 'eng']);
  expect(subtitles.map(({ language }) => language)).toEqual(['spa', 'eng', 'eng']);
  expect(durationSeconds).toBeCloseTo(1, 1);
  const [copied, original] = packetsOf([
    [path, 'a:1'],
    [at('talk.mkv'), 'a:0'],
  ]);
  expect(copied?.slice(0, 40)).toEqual(original?.slice(0, 40));
  const srt = askProgram('ffmpeg', ['-v', 'error', '-i', path, '-map', '0:s:2', '-f', 'srt', '-']).toString();
  expect(srt).toContain('good day');
});

test('sound of a transport stream that begins after the picture keeps its time; an original without subtitles is reported, and one without the audio track is refused', async () => {
  const late = ['-itsoffset', '0.5', ...tone(500)];
  ffmpeg(...PICTURE, ...late, '-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-c:a', 'aac', at('late.ts'));
  const { path, notes } = await add({ source: at('late.ts'), track: 1, subtitles: true });
  expect(Number(ffprobe(path, 'stream=start_time', 'a:1'))).toBeCloseTo(0.5, 1);
  expect(notes).toEqual(['it has no subtitle tracks to keep']);
  await expect(add({ source: at('late.ts'), track: 2 })).rejects.toMatchObject({ code: 'NO_SUCH_TRACK' });
});
