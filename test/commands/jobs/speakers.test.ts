/** Names of speakers: kept by translation, written as WebVTT and ASS; `models/localize.e2e.test.ts` has a model find them. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { assignSpeakers } from '../../../src/commands/jobs/speakers.ts';
import { startVloc } from '../support/run-vloc.ts';
import { openMediaDesk } from './desk.ts';

const VTT = `WEBVTT

00:00.000 --> 00:01.000
<v Ana>good morning

00:01.000 --> 00:02.000
<v.loud Ben &amp; Co>good night

00:02.000 --> 00:03.000
<v Ana>yes</v>
<v Ben>no</v>
`;
const TO_SPANISH = ['--from', 'en', '--to', 'es'];

it.each([
  ['vtt', ['<v Ana>GOOD MORNING', '<v.loud Ben &amp; Co>GOOD NIGHT', '<v Ana>YES</v>\n<v Ben>NO</v>']],
  [
    'ass',
    ['Default,Ana,0,0,0,,GOOD MORNING', 'Default,Ben & Co,0,0,0,,GOOD NIGHT', 'Default,,0,0,0,,YES\\NNO'],
  ],
])('the names of a file are those of its translation: %s', async (format, expected) => {
  const vloc = await startVloc();
  await writeFile(join(vloc.folder, 'talk.vtt'), VTT);
  const { code, stderr } = await vloc.run([
    'translate',
    'talk.vtt',
    ...TO_SPANISH,
    '--subtitle-format',
    format,
  ]);
  expect(code, stderr).toBe(0);
  const written = await readFile(join(vloc.folder, `talk.es.${format}`), 'utf8');
  for (const text of expected) expect(written).toContain(text);
  // And from there into another language.
  const again = await vloc.run([
    ...['translate', `talk.es.${format}`, '--from', 'es', '--to', 'en', '--subtitle-format', 'vtt'],
  ]);
  expect(again.code, again.stderr).toBe(0);
  expect(await readFile(join(vloc.folder, 'talk.en.vtt'), 'utf8')).toContain('<v Ana>');
});

it.each([
  [['--speakers'], '--speakers needs a format with speakers', 2],
  [['--speakers', '--subtitle-format', 'vtt'], 'vloc models install diarization', 4],
  [['--speakers', '--subtitle-format', 'vtt', '--detach'], '--detach does not wait', 2],
])(
  'speakers that cannot be found or written are refused before anything is sent: %j',
  async (words, problem, exit) => {
    const desk = await openMediaDesk();
    const { code, stderr } = await desk.vloc(['recognize', 'talk.mp4', '--from', 'en', ...words]);
    expect(stderr).toContain(problem);
    expect(code).toBe(exit);
    expect(desk.count('createUpload')).toBe(0);
  },
);

it('a line belongs to who speaks for most of it, and names follow the order of appearance', () => {
  const line = (start_ms: number, end_ms: number) => ({ index: 1, start_ms, end_ms, text: 'x' });
  const turns = [
    { speaker: 4, start: 0, end: 1.4 },
    { speaker: 2, start: 1.2, end: 3 },
  ];
  const lines = [line(0, 1000), line(1000, 2000), line(2000, 4000), line(5000, 6000)];
  expect(assignSpeakers(lines, turns).map(({ speaker }) => speaker)).toEqual([
    'Speaker 1',
    'Speaker 2',
    'Speaker 2',
    undefined,
  ]);
});
