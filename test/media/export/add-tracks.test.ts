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

/** A digest of each packet of these streams as it is stored. */
const packets = (path: string, ...streams: string[]) =>
  askProgram('ffmpeg', [
    ...['-v', 'error', '-i', path, ...streams.flatMap((stream) => ['-map', stream])],
    ...['-c', 'copy', '-f', 'framemd5', '-'],
  ])
    .toString()
    .split('\n')
    .filter((row) => /^\d/.test(row));

test('sound and subtitles of the original follow the new tracks, which are unchanged', async () => {
  const before = readFileSync(at('talk.mkv'));
  const { path, notes } = await add({ track: 2, subtitles: true });
  expect(notes).toEqual([]);
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
  const own = ['0:v:0', '0:a:0', '0:s:0'];
  expect(packets(path, ...own)).toEqual(packets(at('talk.es.mp4'), ...own));
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
  const [copied, original] = [packets(path, '0:a:1'), packets(at('talk.mkv'), '0:a:0')].map((rows) =>
    rows.slice(0, 40).map((row) => row.split(',').at(-1)),
  );
  expect(copied).toEqual(original);
  const srt = askProgram('ffmpeg', ['-v', 'error', '-i', path, '-map', '0:s:2', '-f', 'srt', '-']).toString();
  expect(srt).toContain('good day');
});

test('sound of a transport stream that begins after the picture keeps its time', async () => {
  const late = ['-itsoffset', '0.5', ...tone(500)];
  ffmpeg(...PICTURE, ...late, '-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-c:a', 'aac', at('late.ts'));
  const { path } = await add({ source: at('late.ts'), track: 1 });
  expect(Number(ffprobe(path, 'stream=start_time', 'a:1'))).toBeCloseTo(0.5, 1);
});

test('an original without subtitles is reported, and one without the audio track is refused', async () => {
  ffmpeg(...PICTURE, ...tone(500), ...H264, '-c:a', 'aac', at('bare.mp4'));
  const bare = await add({ source: at('bare.mp4'), subtitles: true });
  expect(bare.notes).toEqual(['it has no subtitle tracks to keep']);
  await expect(add({ source: at('bare.mp4'), track: 2 })).rejects.toMatchObject({ code: 'NO_SUCH_TRACK' });
});
