import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkJunit, hasXmllint } from '../../support/xmllint.ts';
import { openSubtitlesDesk, srtCue } from './desk.ts';

const GOOD = srtCue(1, 1, 3, 'Buenos días.') + srtCue(2, 4, 6, '¿Qué tal?');
const FAST = srtCue(1, 1, 2, 'Veinte letras enteras');
const BROKEN = srtCue(1, 5, 4, 'No.');

test('a problem is one line with file, row, time, rule and message, and a warning exits with 0', async () => {
  const { run, write } = await openSubtitlesDesk();
  await write('talk.es.srt', GOOD + srtCue(3, 7, 8, 'Veinte letras enteras'));
  expect(await run('check', 'talk.es.srt')).toEqual({
    code: 0,
    stdout:
      'talk.es.srt:10: 00:00:07,000 TOO_FAST reading speed is 21.0 characters/s (limit 17); shorten the text, or show it for 1.3 s\n',
    stderr: '1 file: 0 errors, 1 warning.\n',
  });
});

test('errors exit with 2, and with --strict warnings too', async () => {
  const { run, write } = await openSubtitlesDesk();
  await write('good.srt', GOOD);
  await write('fast.srt', FAST);
  await write('broken.srt', BROKEN);
  await write('letter.srt', 'Dear all');
  const code = async (...words: string[]) => (await run('check', ...words)).code;
  expect(await code('good.srt', '--strict')).toBe(0);
  expect(await code('fast.srt')).toBe(0);
  expect(await code('fast.srt', '--strict')).toBe(2);
  expect(await code('good.srt', 'broken.srt')).toBe(2);
  expect(await run('check', 'letter.srt')).toMatchObject({
    code: 2,
    stdout: expect.stringMatching(/^letter\.srt:1: 00:00:00,000 UNREADABLE expected a number and times/),
  });
});

test('the language is that in the name, else that of --language, else that of the script', async () => {
  const { run, write } = await openSubtitlesDesk();
  const rules = async (...words: string[]) => {
    const { stdout } = await run('check', ...words, '-o', 'json');
    return JSON.parse(stdout).data.map(({ rule }: { rule: string }) => rule);
  };
  await write('talk.en.srt', srtCue(1, 1, 2, 'nineteen characters'));
  await write('talk.en.sdh.srt', srtCue(1, 1, 2, 'nineteen characters'));
  await write('talk.srt', srtCue(1, 1, 2, 'nineteen characters'));
  await write('japanese.srt', srtCue(1, 1, 2, 'これは速い'));
  expect(await rules('talk.en.srt')).toEqual([]);
  expect(await rules('talk.en.sdh.srt')).toEqual([]);
  expect(await rules('talk.srt')).toEqual(['TOO_FAST']);
  expect(await rules('talk.srt', '--language', 'en-GB')).toEqual([]);
  expect(await rules('japanese.srt')).toEqual(['TOO_FAST']);
  expect(await rules('japanese.srt', '--style', 'netflix-sdh')).toEqual([]);
});

test('a folder is checked with all subtitles below it, and JUnit has a case for each', async () => {
  const { run, write, read } = await openSubtitlesDesk();
  await write('course/1.es.srt', GOOD);
  await write('course/week 2/2.es.vtt', 'WEBVTT\n\n00:01.000 --> 00:01.100\n1 < 2 & "so"\u001b[31m\n');
  await write('course/notes.txt', 'no subtitle');
  const { code, stdout, stderr } = await run('check', 'course', '--strict', '--junit', 'out/report.xml');
  expect(code).toBe(2);
  expect(stdout.split('\n').map((line) => line.split(' ', 4).join(' '))).toEqual([
    'course/week 2/2.es.vtt:3: 00:00:01,000 TOO_SHORT',
    'course/week 2/2.es.vtt:3: 00:00:01,000 TOO_FAST',
    '',
  ]);
  expect(stderr).toBe('2 files: 0 errors, 2 warnings.\n');
  const xml = await read('out/report.xml');
  expect(xml).toContain('<testsuite name="subtitles" tests="2" failures="1" errors="0"');
  expect(xml).toContain('<testcase name="course/1.es.srt" classname="vloc.subtitles" time="0.000"/>');
  if (hasXmllint()) checkJunit(xml);
  expect(xml).toMatch(
    /<failure type="SUBTITLES" message="0 errors, 2 warnings">course\/week 2\/2\.es\.vtt:3: /,
  );
});

test('a style of the user changes some numbers of a built-in one, and a wrong one is refused with its field', async () => {
  const { run, write } = await openSubtitlesDesk();
  await write('talk.es.srt', srtCue(1, 1, 5, 'Uno\ndos\ntres'));
  await write('house.json', '{"extends": "netflix", "rows": 3}');
  await write('wrong.json', '{"characters_per_second": {"default": "fast"}}');
  expect(await run('check', 'talk.es.srt')).toMatchObject({
    stdout: expect.stringContaining('TOO_MANY_ROWS'),
  });
  expect(await run('check', 'talk.es.srt', '--style', 'house.json')).toMatchObject({ code: 0, stdout: '' });
  expect(await run('check', 'talk.es.srt', '--style', 'wrong.json')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'the style wrong.json cannot be used: characters_per_second.default must be a number',
    ),
  });
  expect(await run('check', 'talk.es.srt', '--style', 'netfliks')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Built-in styles: netflix, netflix-children, netflix-sdh, bbc, ebu.'),
  });
});

test('what does not exist is reported, and a folder without subtitles', async () => {
  const { run, write } = await openSubtitlesDesk();
  await write('empty/readme.txt', '');
  expect(await run('check', 'none.srt')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('cannot read none.srt: it does not exist'),
  });
  expect(await run('check', 'empty')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('no subtitles in empty'),
  });
});

test('names and messages cannot control the terminal', async () => {
  const { run, write } = await openSubtitlesDesk();
  await write('a\u001b[2J.srt', 'x\u001b]0;title\u0007');
  const { stdout } = await run('check', 'a\u001b[2J.srt');
  expect(stdout).toContain('a\\u001b[2J.srt:1: ');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it must not be there
  expect(stdout).not.toMatch(/[\u001b\u0007]/);
});

test('with the video, cues near a shot change and after its end are reported', async () => {
  const { folder, run, write } = await openSubtitlesDesk();
  // Two seconds of red, then of blue: a cut at 2 s.
  const colors = ['red', 'blue'].flatMap((color) => ['-f', 'lavfi', '-i', `color=${color}:s=64x36:r=25:d=2`]);
  const output = ['-filter_complex', '[0][1]concat', '-c:v', 'mpeg4', join(folder, 'talk.mp4')];
  execFileSync('ffmpeg', ['-v', 'error', ...colors, ...output]);
  const cues = srtCue(1, 0.5, 1.96, 'Rojo.') + srtCue(2, 2.12, 2.96, 'Azul.') + srtCue(3, 3.1, 6, 'Fin.');
  await write('talk.es.srt', cues);
  const { stdout } = await run('check', 'talk.es.srt', '--video', 'talk.mp4');
  expect(stdout.split('\n')).toEqual([
    'talk.es.srt:2: 00:00:00,500 SHOT_CHANGE it ends 1 frame before a shot change; end it at 00:00:01,920',
    'talk.es.srt:6: 00:00:02,120 SHOT_CHANGE it begins 3 frames after a shot change; begin it at 00:00:02,000',
    'talk.es.srt:10: 00:00:03,100 PAST_END it ends at 00:00:06,000, and the video lasts 00:00:04,000; end it with the video',
    '',
  ]);
  expect(await run('fix', 'talk.es.srt', '--in-place', '--video', 'talk.mp4')).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'talk.es.srt: 3 cues changed, 3 problems fixed, 0 left.\n',
  });
});
