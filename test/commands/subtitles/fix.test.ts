import { chmod, readdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSubtitlesDesk, srtCue } from './desk.ts';

const LONG = 'una fila que es bastante más larga que cuarenta y dos';

test('times and line breaks are fixed in another folder, and what is left is listed with its new row', async () => {
  const { run, write, read } = await openSubtitlesDesk();
  const text =
    srtCue(1, 1, 1.2, 'Sí.') +
    srtCue(2, 3, 7, LONG) +
    srtCue(3, 6.9, 9, 'Bien.') +
    srtCue(4, 9.1, 9.3, 'Demasiado poco tiempo para esto');
  const last = srtCue(5, 9.5, 11, 'Fin.');
  await write('course/talk.es.srt', text + last);
  expect(await run('fix', 'course', '--out', 'fixed')).toEqual({
    code: 0,
    stdout: [
      'fixed/talk.es.srt:15: 00:00:09,100 TOO_SHORT it is shown for only 316 ms (minimum 833 ms); show it longer, or join it with its neighbour',
      'fixed/talk.es.srt:15: 00:00:09,100 TOO_FAST reading speed is 98.1 characters/s (limit 17); shorten the text, or show it for 1.9 s',
      '',
    ].join('\n'),
    stderr: 'course/talk.es.srt: 3 cues changed, 3 problems fixed, 2 left, written to fixed/talk.es.srt.\n',
  });
  expect(await read('fixed/talk.es.srt')).toBe(
    srtCue(1, 1, 1.833, 'Sí.') +
      srtCue(2, 3, 6.816, 'una fila que es bastante más\nlarga que cuarenta y dos') +
      srtCue(3, 6.9, 9, 'Bien.') +
      srtCue(4, 9.1, 9.416, 'Demasiado poco tiempo para esto') +
      last,
  );
  expect(await read('course/talk.es.srt')).toBe(text + last);
});

test('files in folders of trash and snapshots are not touched, unless one is named', async () => {
  const { run, write, read } = await openSubtitlesDesk();
  const text = srtCue(1, 1, 1.2, 'Sí.');
  const hidden = ['course/@eaDir/talk.es.srt', 'course/#recycle/talk.es.srt', 'more/@eaDir/talk.es.srt'];
  for (const name of [...hidden, 'course/talk.es.srt', 'more/talk.es.srt']) await write(name, text);
  const { code, stderr } = await run('fix', 'course', 'more', '--in-place');
  expect([code, stderr.split('\n')[0]]).toEqual([
    0,
    'Skipped folders of trash, snapshots or the system: #recycle, @eaDir (2 times). To use one, name it.',
  ]);
  expect(await read('course/talk.es.srt')).not.toBe(text);
  for (const name of hidden) expect(await read(name)).toBe(text);
  await run('fix', 'course/@eaDir', '--in-place');
  expect(await read('course/@eaDir/talk.es.srt')).not.toBe(text);
});

test('WebVTT keeps its header, settings, speakers and entities, and times without hours stay so', async () => {
  const { run, write, read } = await openSubtitlesDesk();
  const vtt = (end: string, text: string) =>
    `WEBVTT - a talk\n\nSTYLE\n::cue { color: red }\n\nNOTE mine\n\nintro\n00:01.000  -->  ${end} align:start line:0\n${text}\n`;
  await write(
    'talk.es.vtt',
    vtt('00:01.100', '<v Ana>Ella &amp; <i>él dicen muchas cosas, y además cantan</i> ya'),
  );
  await run('fix', 'talk.es.vtt', '--in-place');
  expect(await read('talk.es.vtt')).toBe(
    vtt('00:03.824', '<v Ana>Ella &amp; <i>él dicen muchas\ncosas, y además cantan</i> ya'),
  );
});

test('ASS keeps styles, cells and override tags, and has hundredths', async () => {
  const { run, write, read } = await openSubtitlesDesk();
  const ass = (end: string, text: string) =>
    `[Script Info]\r\nScriptType: v4.00+\r\n\r\n[V4+ Styles]\r\nFormat: Name\r\nStyle: Default\r\n\r\n[Events]\r\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\r\nComment: 0,0:00:00.00,0:00:09.00,Default,,0,0,0,,mine\r\nDialogue: 0, 0:00:01.00,${end},Default,Ana, B,0,0,,${text}\r\n`;
  const words = '{\\i1}Ella, él{\\i0} y todos dicen muchas cosas, y además cantan';
  await write('talk.es.ass', ass('0:00:01.20', words));
  await run('fix', 'talk.es.ass', '--in-place');
  expect(await read('talk.es.ass')).toBe(ass('0:00:04.06', words.replace('muchas ', 'muchas\\N')));
});

test('byte order mark, line breaks, UTF-16 and permissions stay, and a link stays a link', async () => {
  const { folder, run, write, read } = await openSubtitlesDesk();
  const text = `\uFEFF${srtCue(1, 1, 1.2, 'Sí.').replaceAll('\n', '\r\n')}`;
  const path = await write('marked.es.srt', text);
  await chmod(path, 0o640);
  await write('wide.es.srt', Buffer.from(text, 'utf16le'));
  await symlink('marked.es.srt', join(folder, 'link.es.srt'));
  await run('fix', 'link.es.srt', 'wide.es.srt', '--in-place');
  const fixed = `\uFEFF${srtCue(1, 1, 1.833, 'Sí.').replaceAll('\n', '\r\n')}`;
  expect(await read('marked.es.srt')).toBe(fixed);
  expect(Buffer.from(fixed, 'utf16le').toString('utf8')).toBe(await read('wide.es.srt'));
  expect((await stat(path)).mode & 0o777).toBe(0o640);
  expect((await readdir(folder)).toSorted()).toEqual(['link.es.srt', 'marked.es.srt', 'wide.es.srt']);
});

test('an overlap stays if its cue would become too fast, and a sign around another cue stays', async () => {
  const { run, write, read } = await openSubtitlesDesk();
  const sign = srtCue(1, 1, 6, 'SALIDA') + srtCue(2, 2, 4, 'Vamos.');
  const full = srtCue(3, 10, 12.1, 'Estas letras necesitan dos segundos') + srtCue(4, 12, 14, 'Claro.');
  await write('talk.es.srt', sign + full);
  const { stdout } = await run('fix', 'talk.es.srt', '--in-place');
  expect(await read('talk.es.srt')).toBe(sign + full);
  expect(stdout.match(/\d OVERLAP|\d GAP/g)).toEqual(['0 OVERLAP', '0 OVERLAP']);
});

test('one of --in-place and --out is required, and nothing of the user is replaced', async () => {
  const { run, write, read } = await openSubtitlesDesk();
  const text = srtCue(1, 1, 1.2, 'Sí.');
  await write('talk.es.srt', text);
  await write('other/talk.es.srt', 'mine');
  const failed = async (...words: string[]) => {
    const { code, stderr } = await run('fix', 'talk.es.srt', ...words);
    return [code, stderr.split('\n')[0]];
  };
  expect(await failed()).toEqual([2, '✖ where to write is missing']);
  expect(await failed('--in-place', '--out', 'x')).toEqual([2, '✖ --in-place and --out cannot be combined']);
  expect(await failed('--out', '.')).toEqual([2, '✖ talk.es.srt would be replaced']);
  expect(await failed('--out', 'other')).toEqual([
    2,
    expect.stringContaining('other/talk.es.srt exists and is different'),
  ]);
  expect(await read('other/talk.es.srt')).toBe('mine');
  expect(await read('talk.es.srt')).toBe(text);
  // The same command again writes the same, which is no conflict.
  expect((await run('fix', 'talk.es.srt', '--out', 'new')).code).toBe(0);
  expect(await run('fix', 'talk.es.srt', '--out', 'new', '-o', 'json')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"changed_cues": 1'),
  });
});

test('a file with nothing to fix is not written in place, and one that cannot be read stays', async () => {
  const { folder, run, write, read } = await openSubtitlesDesk();
  await write('good.es.srt', srtCue(1, 1, 3, 'Bien.'));
  await write('late.es.srt', '1\n999:59:59,000 --> 999:59:59,100\nFin.\n');
  await write('letter.es.srt', 'Dear all');
  const before = await stat(join(folder, 'good.es.srt'));
  expect((await run('fix', 'good.es.srt', 'late.es.srt', '--in-place')).code).toBe(0);
  expect((await stat(join(folder, 'good.es.srt'))).ino).toBe(before.ino);
  expect(await read('late.es.srt')).toContain('999:59:59,000 --> 999:59:59,833');
  expect((await run('fix', 'letter.es.srt', '--in-place')).code).toBe(2);
  expect(await read('letter.es.srt')).toBe('Dear all');
});
