import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { besidePath, findBeside, inLanguage } from '../../../src/commands/stages/find-subtitles.ts';
import { makeFolder } from '../../support/make-folder.ts';

test('subtitles beside a video are found by its name and a language', async () => {
  const folder = makeFolder();
  const names = [
    'talk.en.srt',
    'talk.PT-br.vtt',
    'talk.zh-Hans.ass',
    'talk.final.srt',
    'talk.srt',
    'talks.en.srt',
  ];
  for (const name of names) writeFileSync(join(folder, name), '');
  const found = await findBeside({ path: join(folder, 'talk.mp4'), stem: 'talk' });
  expect(found.map(({ language }) => language)).toEqual(['pt-BR', 'en', 'und', 'zh-Hans']);
  expect(found.find(({ language }) => language === 'und')?.path).toBe(join(folder, 'talk.srt'));
});

test('a variety is used for its language if there is nothing closer', () => {
  const files = ['en-GB', 'es', 'es-MX'].map((language) => ({ path: '', language }));
  const tags = (wanted: string) => inLanguage(files, wanted).map(({ language }) => language);
  expect(tags('en')).toEqual(['en-GB']);
  expect(tags('es')).toEqual(['es']);
  expect(tags('fr')).toEqual([]);
});

test('a language from outside never leads outside the folder', () => {
  const video = { path: '/videos/talk.mp4', stem: 'talk' };
  expect(besidePath(video, 'pt-br', 'srt')).toBe('/videos/talk.pt-BR.srt');
  for (const language of [null, '../../etc/x', 'en/us', '']) {
    expect(besidePath(video, language, 'vtt')).toBe('/videos/talk.vtt');
  }
});

test.each([
  ['of ASCII', 'x'.repeat(251)],
  ['of three bytes per character', '講'.repeat(83)],
])('a long name %s is cut for its subtitles, which are found again', async (_what, stem) => {
  const video = { path: join(makeFolder(), `${stem}.mp4`), stem };
  const paths = ['es', 'pt-BR'].map((language) => besidePath(video, language, 'srt'));
  for (const path of paths) writeFileSync(`${path}.part`, '');
  for (const path of paths) writeFileSync(path, '');
  const found = await findBeside(video);
  expect(found.map(({ path }) => path).sort()).toEqual(paths.toSorted());
  expect(found.map(({ language }) => language).sort()).toEqual(['es', 'pt-BR']);
  const other = { ...video, stem: `${stem.slice(0, -1)}y` };
  expect(besidePath(other, 'es', 'srt')).not.toBe(paths[0]);
  expect(await findBeside(other)).toEqual([]);
});
