import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFolder, MP4, plan, problemsOf } from '../plan/support.ts';

async function sheet(content: string, options: Readonly<Record<string, unknown>> = {}, name = 'sheet.csv') {
  const cwd = createFolder({ 'in/a.mp4': MP4, 'in/week 1/b.mp4': MP4, [`in/${name}`]: content });
  return plan(cwd, [], { options: { sheet: join('in', name), ...options } });
}

describe('a sheet', () => {
  it('has a row for each input, whose options override those of the command line', async () => {
    const { planned } = await sheet('file,to,Voice-Mode,from\na.mp4,"es, fr",male,\nweek 1/b.mp4,,,en\n', {
      voiceMode: 'female',
    });
    expect(planned.map(({ item }) => [item.input.name, item.targetLanguage, item.fields])).toEqual([
      ['a.mp4', 'es', { target_language: 'es', voice_mode: 'male' }],
      ['a.mp4', 'fr', { target_language: 'fr', voice_mode: 'male' }],
      ['week 1/b.mp4', 'ca', { target_language: 'ca', voice_mode: 'female', source_language: 'en' }],
    ]);
  });

  it.each([
    ['semicolons', '\uFEFFfile;to\r\na.mp4;es,fr\r\n'],
    ['tabs', 'file\tto\na.mp4\tes fr\n'],
    ['JSON', '[{"file":"a.mp4","to":["es","fr"]}]'],
  ])('may be written with %s', async (_name, content) => {
    const { planned } = await sheet(content);
    expect(planned.map(({ item }) => item.targetLanguage)).toEqual(['es', 'fr']);
  });

  it.each([
    ['separators', 'file;to\na.mp4;es,fr\n;\n;\n'],
    ['empty quotes', 'file;to\na.mp4;es,fr\n"";""\n'],
    ['blanks', 'file;to\n   \na.mp4;es,fr\n\t\n'],
    ['separators before the header', ';\nfile;to\na.mp4;es,fr\n'],
  ])('may have rows of nothing but %s', async (_name, content) => {
    const { planned } = await sheet(content);
    expect(planned.map(({ item }) => item.targetLanguage)).toEqual(['es', 'fr']);
  });

  it('may have a file in several rows, for other languages', async () => {
    const { planned } = await sheet('file,to,voice_mode\na.mp4,es,male\na.mp4,fr,female');
    expect(planned.map(({ item }) => item.fields.voice_mode)).toEqual(['male', 'female']);
  });

  it('that does not exist is a problem', async () => {
    const planned = plan(createFolder({}), [], { options: { sheet: 'none.csv' } });
    expect(await problemsOf(planned)).toEqual(['--sheet none.csv: there is no such file; check the path']);
  });
});
