import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AddTracksTask, addTracks } from '../../../src/media/export/add-tracks.ts';
import { createWork, ffmpeg, ffprobe, programs } from '../../engines/workspace.ts';
import { streamSums } from '../../support/media.ts';
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
const add = (task: Partial<AddTracksTask>) =>
  addTracks(
    programs,
    {
      ...{ video: at('talk.es.mp4'), source: at('talk.mkv'), track: null, language: null },
      ...{ subtitles: false, lines: null, ...task },
    },
    work(),
  );

test('sound and subtitles of the original, and added ones, follow the new tracks, which are unchanged', async () => {
  const before = readFileSync(at('talk.mkv'));
  const lines = {
    language: 'en-US',
    lines: [{ index: 1, start_ms: 0, end_ms: 5000, text: '<b>good</b> day' }],
  };
  const { path, notes } = await add({ track: 2, subtitles: true, lines });
  expect(notes).toEqual([]);
  const entries = 'stream=codec_name:stream_tags=language:stream_disposition=default';
  const found = ffprobe(path, `${entries}:format=duration:format_tags=creation_time`).split('\n');
  expect(found.slice(0, -2)).toEqual([
    ...['h264', '1', 'und', 'aac', '1', 'spa'],
    // MP4 players do not play PCM.
    ...['aac', '0', 'eng'],
    ...['mov_text', '1', 'spa', 'mov_text', '0', 'eng', 'mov_text', '0', 'eng'],
  ]);
  expect(found.at(-1)).toBe(DATE);
  // The original sound continues for two seconds after the picture, and the added cue for four.
  expect(Number(found.at(-2))).toBeCloseTo(1, 1);
  const kinds = ['0:v', '0:a', '0:s', '1:v', '1:a', '1:s'].map((kind) => `${kind}:0`);
  const packets = streamSums([path, at('talk.es.mp4')], kinds);
  expect(packets.slice(0, 3)).toEqual(packets.slice(3));
  const srt = askProgram('ffmpeg', ['-v', 'error', '-i', path, '-map', '0:s:2', '-f', 'srt', '-']).toString();
  expect(srt).toContain('good day');
  expect(readFileSync(at('talk.mkv')).equals(before)).toBe(true);
});

test('sound of a transport stream that begins after the picture keeps its time, and is copied and played first if asked for; an original without subtitles is reported, and one without the audio track is refused', async () => {
  const late = ['-itsoffset', '0.5', ...tone(500)];
  ffmpeg(...PICTURE, ...late, '-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-c:a', 'mp3', at('late.ts'));
  const kept = { source: at('late.ts'), track: 1, language: 'en-US', isFirst: true, subtitles: true };
  const { path, notes } = await add(kept);
  const entries = 'stream=codec_name,start_time:stream_disposition=default:stream_tags=language,handler_name';
  const [codec, start, ...others] = ffprobe(path, entries, 'a').split('\n');
  expect([codec, ...others]).toEqual([
    ...['mp3', '1', 'eng', 'Original'],
    ...['aac', '0.000000', '0', 'spa', 'SoundHandler'],
  ]);
  expect(Number(start)).toBeCloseTo(0.5, 1);
  expect(notes).toEqual(['it has no subtitle tracks to keep']);
  await expect(add({ source: at('late.ts'), track: 2 })).rejects.toMatchObject({ code: 'NO_SUCH_TRACK' });
});
