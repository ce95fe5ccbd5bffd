import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { besidePath, findBeside, inLanguage } from '../../../src/commands/stages/beside.ts';
import { temporaryFolder } from '../../engines/workspace.ts';

test('subtitles beside a video are known by its name and a language', async () => {
  const folder = temporaryFolder();
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
  expect(found.map(({ language }) => language)).toEqual(['pt-BR', 'en', 'zh-Hans']);
});

test('a variety stands for its language where nothing nearer is there', () => {
  const files = ['en-GB', 'es', 'es-MX'].map((language) => ({ path: '', language }));
  const tags = (wanted: string) => inLanguage(files, wanted).map(({ language }) => language);
  expect(tags('en')).toEqual(['en-GB']);
  expect(tags('es')).toEqual(['es']);
  expect(tags('fr')).toEqual([]);
});

test('a language from outside never leads out of the folder', () => {
  const video = { path: '/videos/talk.mp4', stem: 'talk' };
  expect(besidePath(video, 'pt-br', 'srt')).toBe('/videos/talk.pt-BR.srt');
  for (const language of [null, '../../etc/x', 'en/us', '']) {
    expect(besidePath(video, language, 'vtt')).toBe('/videos/talk.und.vtt');
  }
});
