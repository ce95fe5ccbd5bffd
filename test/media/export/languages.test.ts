/** One file with all languages of a video. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { joinLanguages } from '../../../src/media/export/languages.ts';
import { commentTags, readComment, readMark } from '../../../src/media/export/mark.ts';
import { createWork, ffmpeg, ffprobe, programs } from '../../engines/workspace.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { readCues } from '../../support/media.ts';
import { askProgram } from '../../support/remembered-programs.ts';

/** The finished videos, with a sound, a subtitle and a mark each. */
let videos: { readonly path: string; readonly language: string }[];
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vloc-test-'));
  videos = ['es', 'fr'].map((language, at) => {
    const [path, text] = [`talk.${language}.mp4`, `${language}.srt`].map((name) => join(folder, name));
    writeFileSync(text ?? '', `1\n00:00:00,100 --> 00:00:00,900\nin ${language}\n`);
    const sound = ['-f', 'lavfi', '-i', `sine=f=${300 * (at + 1)}:d=1`];
    const mark = { isSpoken: true, from: 'en', to: [language], engines: null, atMs: 0 };
    ffmpeg(
      ...[
        '-f',
        'lavfi',
        '-i',
        `testsrc=s=64x${48 + 2 * at}:r=5:d=1`,
        ...sound,
        '-i',
        text ?? '',
        '-c:v',
        'libx264',
      ],
      ...['-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-c:s', 'mov_text'],
      ...[...commentTags(mark, 'Filmed in Bremen'), path ?? ''],
    );
    return { path: path ?? '', language };
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Default, language and name of each track but the picture. */
function tracksOf(file: string): string[] {
  const entries = 'stream_disposition=default:stream_tags=language,handler_name';
  const words = ffprobe(file, entries).split('\n').slice(3);
  return Array.from({ length: words.length / 3 }, (_, at) => words.slice(3 * at, 3 * at + 3).join(' '));
}

const work = () => createWork(makeFolder());

test('it has the picture of the first, and the sound and subtitles of each, of which the first are played', async () => {
  const path = await joinLanguages(programs, videos.toReversed(), false, work());
  expect(tracksOf(path)).toEqual(['1 fra French', '0 spa Spanish', '1 fra French', '0 spa Spanish']);
  expect(readCues(path)).toMatchObject([{ text: 'in fr' }]);
  const both = ['-i', videos[1]?.path ?? '', '-i', path, '-map', '0:v', '-map', '1:v', '-c', 'copy'];
  const sums = askProgram('ffmpeg', ['-v', 'error', ...both, '-f', 'streamhash', '-']).toString();
  const [first, joined] = sums.split('\n').map((row) => row.split('=')[1]);
  expect(joined).toBe(first);
  const comment = (await readComment(programs, path, work())) ?? '';
  expect(comment).toMatch(/^Filmed in Bremen\n/);
  expect(readMark(comment)?.to).toEqual(['fr', 'es']);
});

test('it has the sound once if all have that of the source', async () => {
  const path = await joinLanguages(programs, videos, true, work());
  expect(tracksOf(path)).toEqual(['1 und SoundHandler', '1 spa Spanish', '0 fra French']);
});
