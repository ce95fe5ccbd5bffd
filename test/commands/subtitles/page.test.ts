/** The commands and styles of docs/subtitles.md that work on this machine run as the page shows them. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseLook } from '../../../src/media/subtitles/look.ts';
import { parseStyle } from '../../../src/media/subtitles/style.ts';
import { openSubtitlesDesk, srtCue } from './desk.ts';

const PAGE = readFileSync(new URL('../../../docs/subtitles.md', import.meta.url), 'utf8');
const COMMANDS = [...PAGE.matchAll(/(?:^|`)vloc subtitles ([^\n`]+)/gm)].map(([, words = '']) =>
  words.trim(),
);

const SRT = srtCue(1, 11, 13, 'Hola a todos.') + srtCue(2, 15, 17, 'Muchas gracias.');

test('the page shows each command that needs no service', () => {
  const names = new Set(COMMANDS.map((words) => words.split(' ')[0]));
  expect([...names].toSorted()).toEqual(['check', 'compare', 'convert', 'fix', 'preview']);
});

// The tests of `check` and `preview` have a video.
test.each(COMMANDS.filter((words) => !words.includes('talk.mp4')))('vloc subtitles %s', async (words) => {
  const { run, write } = await openSubtitlesDesk();
  for (const name of ['talk.es.srt', 'talk.en.srt', 'old.srt', 'lessons/talk.es.srt']) await write(name, SRT);
  await write('new.srt', SRT.replace('Muchas', 'Mil'));
  const { code, stderr } = await run(...words.split(' '));
  expect(code, stderr).toBe(words.startsWith('compare') ? 1 : 0);
});

test('its styles are valid', () => {
  const samples = [...PAGE.matchAll(/```json\n(.+)\n```/g)].map(([, sample = '']) => sample);
  const [guide = '', look = ''] = samples;
  expect([samples.length, typeof parseStyle(guide), typeof parseLook(look)]).toEqual([2, 'object', 'object']);
});
