import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSubtitlesDesk, srtCue } from './desk.ts';

const TWO = srtCue(1, 1, 2, '<i>Uno.</i>') + srtCue(2, 3, 4, '<b>Dos</b>\nfilas & <más>.');

test('each format becomes each other one, with words, rows, tags and times', async () => {
  const { run, write, read } = await openSubtitlesDesk();
  await write('talk.es.srt', TWO);
  for (const [from, to] of [
    ['srt', 'vtt'],
    ['vtt', 'ass'],
    ['ass', 'srt'],
  ] as const) {
    const out = to === 'srt' ? ['--out', 'back'] : [];
    expect(await run('convert', `talk.es.${from}`, '--to', to, ...out)).toMatchObject({ code: 0 });
  }
  expect(await read('talk.es.vtt')).toContain('00:00:01.000 --> 00:00:02.000\n<i>Uno.</i>\n');
  expect(await read('talk.es.ass')).toContain('{\\b1}Dos{\\b0}\\Nfilas & <más>.');
  expect(await read('back/talk.es.srt')).toBe(TWO);
});

test('WebVTT and ASS keep where cues are; SRT, whose players may show the tag, does not get it', async () => {
  const { run, write, read } = await openSubtitlesDesk();
  const places = [
    [' line:0', '{\\an8}'],
    [' line:10% align:start position:5%', '{\\an7}'],
    [' line:50% position:90%,line-right align:right', '{\\an6}'],
    [' position:10%', '{\\an1}'],
    [' line:8', '{\\an5}'],
    [' line:-1 align:center size:80%', ''],
    [' line:84%,start', ''],
    [' position:auto vertical:rl', ''],
    ['', ''],
  ];
  const cue = (second: number, settings = '') =>
    `00:${String(second).padStart(2, '0')}.000 --> 00:${String(second + 1).padStart(2, '0')}.000${settings}\nUno.\n\n`;
  await write('talk.vtt', `WEBVTT\n\n${places.map(([settings], at) => cue(2 * at, settings)).join('')}`);
  await run('convert', 'talk.vtt', '--to', 'ass');
  const rows = (await read('talk.ass')).match(/Dialogue:.*/g) ?? [];
  expect(rows.map((row) => row.split(',,0,0,0,,')[1])).toEqual(places.map(([, tag]) => `${tag}Uno.`));
  await run('convert', 'talk.ass', '--to', 'vtt', '--out', 'back');
  expect((await read('back/talk.vtt')).match(/(?<=--> \S{12}).*/g)).toEqual([
    ...[' line:0', ' line:0 align:start position:0%', ' line:50% align:end position:100%'],
    ...[' align:start position:0%', ' line:50%', '', '', '', ''],
  ]);
  await run('convert', 'talk.vtt', '--to', 'srt');
  expect(await read('talk.srt')).not.toContain('an8');
});

test('a folder keeps its tree, and a second run changes nothing', async () => {
  const { run, write, read, folder } = await openSubtitlesDesk();
  await write('course/week 1/a.es.srt', TWO);
  await write('course/b.es.vtt', 'WEBVTT\n\nNOTE mine\n\n00:01.000 --> 00:02.000\nUno.\n');
  const first = await run('convert', 'course', '--to', 'vtt', '--out', 'vtt', '-o', 'json');
  expect(JSON.parse(first.stdout).data).toEqual([
    { file: 'course/b.es.vtt', written: 'vtt/b.es.vtt', cues: 1 },
    { file: 'course/week 1/a.es.srt', written: 'vtt/week 1/a.es.vtt', cues: 2 },
  ]);
  // One that has the format is copied as it is.
  expect(await read('vtt/b.es.vtt')).toBe(await read('course/b.es.vtt'));
  await run('convert', 'course', '--to', 'vtt');
  expect(await run('convert', 'course', '--to', 'vtt')).toMatchObject({ code: 0 });
  expect(await readdir(join(folder, 'course/week 1'))).toEqual(['a.es.srt', 'a.es.vtt']);
  expect(await read('course/week 1/a.es.srt')).toBe(TWO);
});

test('an existing file is replaced only with --clobber, and an input never', async () => {
  const { run, write, read } = await openSubtitlesDesk();
  await write('talk.srt', TWO);
  await write('talk.vtt', 'my own');
  expect(await run('convert', 'talk.srt', '--to', 'vtt')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('talk.vtt exists and is different'),
  });
  expect(await read('talk.vtt')).toBe('my own');
  expect(await run('convert', 'talk.srt', '--to', 'vtt', '--clobber')).toMatchObject({ code: 0 });
  expect(await read('talk.vtt')).toContain('WEBVTT');
  // Its name says otherwise.
  const ass = await read('talk.vtt');
  await write('odd.ass', ass);
  const replaced = ['convert', 'odd.ass', '--to', 'ass', '--clobber'];
  expect(await run(...replaced)).toMatchObject({ code: 2, stderr: expect.stringContaining('odd.ass') });
  expect(await run('convert', 'talk.srt', 'talk.vtt', '--to', 'ass')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('two files would be written to'),
  });
  expect(await read('odd.ass')).toBe(ass);
});

test('names of speakers that SRT cannot keep are mentioned, and one unreadable file stops all', async () => {
  const { run, write, folder } = await openSubtitlesDesk();
  await write(
    'talk.vtt',
    'WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>Uno.\n\n00:03.000 --> 00:04.000\n<v Ben>Dos.\n',
  );
  expect(await run('convert', 'talk.vtt', '--to', 'srt')).toMatchObject({
    code: 0,
    stderr: 'talk.srt: SRT has no place for the names of 2 speakers.\n',
  });
  await write('broken.srt', 'Dear all');
  expect(await run('convert', 'talk.vtt', 'broken.srt', '--to', 'ass')).toMatchObject({
    code: 2,
    stdout: '',
  });
  expect(await readdir(folder)).not.toContain('talk.ass');
});
