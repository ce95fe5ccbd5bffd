/** Files in two languages, and that nothing takes such a file for one in one language. */
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bilingualLanguages, bilingualName } from '../../../src/batch/inputs/bilingual-name.ts';
import { subtitleLanguage, subtitleStem } from '../../../src/batch/inputs/check-subtitle.ts';
import { findBeside } from '../../../src/commands/stages/find-subtitles.ts';
import { startVloc } from '../support/run-vloc.ts';
import { openSubtitlesDesk, srtCue } from './desk.ts';

const SPANISH = srtCue(1, 1, 3, 'Buenos días.') + srtCue(2, 4, 6, 'Adiós.') + srtCue(3, 8, 9, 'Fin.');
const ENGLISH = srtCue(1, 1, 3, 'Good <b>morning</b>.') + srtCue(2, 4, 6, 'Good\nbye.');
const BOTH = ['--bilingual', 'above', '--source', 'talk.en.srt'];

async function openDesk() {
  const desk = await openSubtitlesDesk();
  await desk.write('talk.es.srt', SPANISH);
  await desk.write('talk.en.srt', ENGLISH);
  return desk;
}

test('each format gets both texts in each cue, with the times of the translation', async () => {
  const { run, read } = await openDesk();
  const ended = await run('convert', 'talk.es.srt', '--to', 'srt', ...BOTH, '-o', 'json');
  expect(ended.code, ended.stderr).toBe(0);
  expect(JSON.parse(ended.stdout).data).toEqual([
    { file: 'talk.es.srt', written: 'talk.es+en.srt', cues: 3 },
  ]);
  expect(await read('talk.es+en.srt')).toBe(
    srtCue(1, 1, 3, '<i>Good morning.</i>\nBuenos días.') +
      srtCue(2, 4, 6, '<i>Good\nbye.</i>\nAdiós.') +
      srtCue(3, 8, 9, 'Fin.'),
  );
  const below = ['--bilingual', 'below', '--source', 'talk.en.srt'];
  await run('convert', 'talk.es.srt', '--to', 'vtt', ...below);
  expect(await read('talk.es+en.vtt')).toContain('\nAdiós.\n<i>Good\nbye.</i>\n');
  await run('convert', 'talk.es.srt', '--to', 'ass', ...below, '--out', 'ass');
  const ass = await read('ass/talk.es+en.ass');
  expect(ass).toContain('Style: Source,');
  expect(ass).toContain('{\\r}Adiós.\\N{\\rSource}{\\i1}Good\\Nbye.{\\i0}');
  // It stays what it is in another format.
  expect(await run('convert', 'talk.es+en.srt', '--to', 'ass')).toMatchObject({ code: 0 });
  expect(await read('talk.es+en.ass')).toContain('{\\i1}Good morning.{\\i0}\\NBuenos días.');
});

test('a check applies the limits of each language to its own rows', async () => {
  const { run, write } = await openDesk();
  const row = 'A row that has more characters than any guide allows.';
  await write('talk.en.srt', srtCue(1, 1, 3, `One.\nTwo.\n${row}`) + srtCue(2, 4, 6, 'Good\nbye.'));
  await run('convert', 'talk.es.srt', '--to', 'srt', ...BOTH);
  const ended = await run('check', 'talk.es+en.srt', '-o', 'json');
  const found = JSON.parse(ended.stdout).data.map(({ cue, rule, message }: Record<string, unknown>) => [
    ...[cue, rule, message],
  ]);
  expect(found).toEqual([
    [1, 'TOO_FAST', expect.stringMatching(/^in en, reading speed/)],
    [1, 'TOO_MANY_ROWS', 'in en, it has 3 rows (limit 2)'],
    [1, 'TOO_WIDE', 'in en, row 3 has 53 characters (limit 42)'],
  ]);
  await write('talk.en.srt', ENGLISH);
  await run('convert', 'talk.es.srt', '--to', 'srt', ...BOTH, '--clobber');
  expect(await run('check', 'talk.es+en.srt', '--strict')).toMatchObject({ code: 0 });
});

test('what cannot be paired is refused, and rows of two languages are not wrapped again', async () => {
  const { run, write, read } = await openDesk();
  await write('talk.es+en.srt', srtCue(1, 1, 3, '<i>Good morning.</i>\nBuenos días.'));
  for (const [words, why] of [
    [['talk.es.srt', '--to', 'srt', '--bilingual', 'above'], 'Name it with --source talk.en.srt'],
    [['talk.es.srt', '--to', 'srt', '--source', 'talk.en.srt'], '--source is for --bilingual'],
    [['talk.es.srt', 'talk.en.srt', '--to', 'srt', ...BOTH], 'is for one file and its source'],
    [['talk.es+en.srt', '--to', 'srt', ...BOTH], 'talk.es+en.srt shows two languages, es and en'],
    [['talk.es.srt', '--to', 'srt', ...BOTH], 'talk.es+en.srt exists and is different'],
  ] as const)
    expect(await run('convert', ...words), why).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(why),
    });
  const before = await read('talk.es+en.srt');
  expect(await run('fix', 'talk.es+en.srt', '--in-place')).toMatchObject({
    stderr: expect.stringContaining('Skipped: talk.es+en.srt shows two languages, es and en'),
  });
  expect(await read('talk.es+en.srt')).toBe(before);
});

test('the name is never taken for that of a language, nor for subtitles of the video', async () => {
  const tags = fc.constantFrom('es', 'pt-BR', 'zh-Hant-TW', 'fil', 'und');
  fc.assert(
    fc.property(tags, tags, fc.constantFrom('srt', 'vtt', 'ass'), (target, source, format) => {
      const name = `${bilingualName('talk', target, source)}.${format}`;
      expect(bilingualLanguages(name)).toEqual([target, source]);
      expect(subtitleLanguage(name)).toBe(null);
      expect(subtitleStem(name)).not.toBe('talk');
    }),
  );
  for (const name of ['talk.es.srt', 'talk.c++.srt', 'a+b.srt', 'talk.en-es.srt', 'talk.srt'])
    expect(bilingualLanguages(name)).toBe(null);
  const { write, folder } = await openSubtitlesDesk();
  for (const name of ['talk.es+en.srt', 'talk.es+en.vtt']) await write(name, SPANISH);
  expect(await findBeside({ path: join(folder, 'talk.mp4'), stem: 'talk' })).toEqual([]);
});

test('translations, dubs and reviews refuse a named file in two languages, and skip it in a folder', async () => {
  const vloc = await startVloc();
  const desk = await openDesk();
  await desk.run('convert', 'talk.es.srt', '--to', 'srt', ...BOTH);
  const run = (...words: string[]) => vloc.run(words, { cwd: desk.folder });
  for (const words of [
    ['translate', 'talk.es+en.srt', '--to', 'fr'],
    ['dub', 'talk.es+en.srt', '--to', 'es'],
  ])
    expect(await run(...words)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('talk.es+en.srt: shows two languages, es and en'),
    });
  const skipped = await run('translate', '.', '--to', 'fr', '--include', '*.es*.srt', '--dry-run');
  expect(skipped.code, skipped.stderr).toBe(0);
  expect(skipped.stderr).toContain('Skipped 1 file in two languages: talk.es+en.srt');
  const table = await run('subtitles', 'export', '.', '--to', 'es', '--out', 'review.csv');
  expect(table.code, table.stderr).toBe(0);
  expect(await desk.read('review.csv')).not.toContain('+en');
});
