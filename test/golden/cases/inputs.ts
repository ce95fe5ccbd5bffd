/** Inputs that cannot be used: files, folders, addresses, lists, sheets, subtitles. */
import { mkdir, symlink } from 'node:fs/promises';
import type { Case } from '../stage.ts';
import { FILES, SRT, TRANSLATE, VIDEO } from './files.ts';

const sheet = (content: string, more: Partial<Case> = {}): Case => ({
  line: 'translate --sheet list.csv --from en --to es --dry-run',
  when: JSON.stringify(content),
  files: { ...FILES, 'list.csv': content },
  ...more,
});

/** Subtitles that are looked at more closely, each with one thing wrong. */
const subtitles = (when: string, content: string | Buffer, name = 'b.srt'): Case => ({
  line: `dub ${name} --to es --dry-run`,
  when,
  files: { [name]: content },
});

export const INPUTS: readonly Case[] = [
  // Files and folders
  { line: 'translate nope.srt --from en --to es' },
  { line: 'translate "*.srt" --from en --to es' },
  {
    line: 'translate in --from en --to es',
    when: 'an empty folder',
    before: (s) => mkdir(s.path('in')),
  },
  {
    line: 'translate in --from en --to es --include "*.vtt"',
    files: { 'in/a.srt': SRT },
  },
  { line: 'localize in --to es --dry-run', files: { 'in/a.srt': SRT, 'in/b.txt': 'x', 'in/c.mp4': VIDEO } },
  {
    line: 'localize in --to es --dry-run',
    when: 'nothing fits',
    files: { 'in/a.txt': 'x', 'in/b.txt': 'x' },
  },
  { line: 'localize a.mp4 --to es', when: 'an empty file', files: { 'a.mp4': '' } },
  { line: 'localize a.srt --to es', files: FILES },
  { line: 'localize a.txt --to es', files: { 'a.txt': 'text' } },
  { line: 'localize - --to es', stdin: 'x' },
  { line: 'translate a.mp4 --from en --to es', files: { 'a.mp4': VIDEO } },
  {
    line: 'translate in --from en --to es --dry-run',
    when: 'links',
    before: async (stage) => {
      await stage.write('in/a.srt', SRT);
      await symlink('nowhere', stage.path('in/gone.srt'));
      await symlink('round.srt', stage.path('in/round.srt'));
    },
  },
  {
    line: 'translate round.srt --from en --to es',
    when: 'a link to itself',
    before: (stage) => symlink('round.srt', stage.path('round.srt')),
  },
  {
    line: 'translate in --from en --to es --dry-run',
    when: 'a line break in a name',
    files: { 'in/a.srt': SRT, 'in/b\nc.srt': SRT },
  },
  { line: `translate ${'a'.repeat(300)}.srt --from en --to es` },
  { line: 'translate /dev/null --from en --to es' },
  { line: 'translate a.srt a.srt ./a.srt --from en --to es --dry-run', files: FILES },
  { line: 'translate a.srt b/a.srt --from en --to es', files: { ...FILES, 'b/a.srt': SRT } },
  { line: 'translate a.srt --from en --to es,fr --name x --dry-run', files: FILES },
  { line: `${TRANSLATE} --name a.srt`, files: FILES },
  { line: `${TRANSLATE} --name {lang}{ext} --dry-run`, files: FILES },
  { line: 'separate a.mp4 --name {lang} --dry-run', files: { 'a.mp4': VIDEO } },
  { line: `${TRANSLATE}`, when: 'the result exists', files: { ...FILES, 'a.es.srt': 'mine' } },
  {
    line: `${TRANSLATE} --skip-existing`,
    when: 'the result exists',
    files: { ...FILES, 'a.es.srt': 'mine' },
  },
  { line: `${TRANSLATE} --out a.srt/b`, files: FILES },
  { line: `${TRANSLATE} --out /proc/nope/out`, files: FILES },
  { line: 'translate - - --from en --to es', stdin: SRT },
  { line: 'translate - --from en --to es --files-from -', stdin: SRT },
  // Addresses and ids
  { line: 'localize http://example.com/a.mp4 --to es' },
  { line: 'localize https://user:word@example.com/a.mp4 --to es' },
  { line: 'localize https:// --to es' },
  { line: 'localize https://127.0.0.1/a.mp4 --to es' },
  { line: 'localize ftp://example.com/a.mp4 --to es' },
  { line: 'localize upl_01k9x2m4n6p8q0r2s4t6v8w0y2 --to es' },
  { line: 'translate rec_01k9x2m4n6p8q0r2s4t6v8w0y2 --from en --to es' },
  // Lists and sheets
  { line: 'translate --files-from list --from en --to es' },
  { line: 'translate --files-from list --from en --to es', when: 'an empty list', files: { list: '' } },
  { line: 'translate --files-from list --from en --to es', when: 'NULs', files: { list: 'a\0b' } },
  {
    line: 'translate --files-from list --from en --to es',
    when: 'not UTF-8',
    files: { list: Buffer.from([0x61, 0xff, 0x0a]) },
  },
  { line: 'translate --sheet nope.csv --from en --to es' },
  sheet(''),
  sheet('name,to\na.srt,es\n'),
  sheet('file,too\na.srt,es\n'),
  sheet('file,to,to\na.srt,es,fr\n'),
  sheet('file,to\n,es\n'),
  sheet('file,to\n"a.srt,es\n'),
  sheet('[1'),
  sheet('[1]'),
  sheet('file,voice_mode\na.srt,loud\n', { line: 'dub --sheet list.csv --to es --dry-run' }),
  { ...sheet(''), when: 'not UTF-8', files: { 'list.csv': Buffer.from([0x66, 0xff, 0x0a]) } },
  // Subtitles
  subtitles('an empty file', ''),
  subtitles('not UTF-8', Buffer.from([0x31, 0x0a, 0xff, 0xfe, 0x41])),
  subtitles('no cue', 'hello\n'),
  subtitles('a broken time', '1\n00:00:00,000 -> 00:00:01,000\nhello\n'),
  subtitles('ends before it begins', '1\n00:00:02,000 --> 00:00:01,000\nhello\n'),
  subtitles('a cue without text', '1\n00:00:00,000 --> 00:00:01,000\n\n'),
  subtitles('JSON that is none', '[{', 'b.json'),
  subtitles('JSON that is no list of lines', '{"lines":1}', 'b.json'),
  subtitles('lines with wrong times', '[{"index":1,"start_ms":5,"end_ms":1,"text":"a"}]', 'b.json'),
  subtitles('WebVTT without its head', '00:00.000 --> 00:01.000\nhello\n', 'b.vtt'),
  subtitles('a broken WebVTT time', 'WEBVTT\n\n00:00.000 --> soon\nhello\n', 'b.vtt'),
  subtitles('ASS without events', '[Script Info]\n', 'b.ass'),
  subtitles('JSON in a file of another name', '[{"index":1}]'),
  {
    line: 'translate big.srt --from en --to es',
    when: 'too large',
    files: { 'big.srt': 'a'.repeat(10_485_761) },
  },
  { line: 'translate - --from en --to es', when: 'stdin too large', stdin: 'a'.repeat(10_485_761) },
  // Uploads
  { line: 'upload https://example.com/a.mp4' },
  { line: 'upload in', files: { 'in/a.mp4': VIDEO } },
  { line: 'upload a.txt', files: { 'a.txt': 'text' } },
  { line: 'upload a.srt b.srt --file-name c.srt', files: { ...FILES, 'b.srt': SRT } },
];
