import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFolder, MP4, plan, problemsOf } from './support.ts';

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

  it('may have a file in several rows, for other languages', async () => {
    const { planned } = await sheet('file,to,voice_mode\na.mp4,es,male\na.mp4,fr,female');
    expect(planned.map(({ item }) => item.fields.voice_mode)).toEqual(['male', 'female']);
  });

  it.each([
    ['file,tos\na.mp4,es', 'there is no column "tos"; did you mean to?'],
    ['file,xyzzy\na.mp4,es', 'there is no column "xyzzy"; columns: file, from, to'],
    ['fle,to\na.mp4,es', 'did you mean file?'],
    ['to\nes', 'has no column "file"'],
    ['file,to,To\na.mp4,es,fr', 'the column "To" appears twice'],
    ['file,to\n,es', 'row 1 has no value in the column "file"'],
    ['file,to\n"a.mp4,es', 'is not valid CSV'],
    ['file,to\n', 'has no rows'],
    ['[{"file":', 'is not valid JSON'],
    ['{"file":"a.mp4"}', 'must be a JSON array'],
    ['file,to\na.mp4,not a tag\n', 'row 1 of the sheet, --to: not a BCP 47 language tag'],
    ['file,voice-mode\na.mp4,loud\n', 'row 1 of the sheet, --voice-mode'],
    ['file\nmissing.mp4\n', 'missing.mp4: there is no such file'],
    ['file,to\na.mp4,es\na.mp4,es\n', 'a.mp4 → es: is requested twice'],
  ])('is refused as %j', async (content, said) => {
    expect((await problemsOf(sheet(content))).join('\n')).toContain(said);
  });

  it('that does not exist is a problem', async () => {
    const planned = plan(createFolder({}), [], { options: { sheet: 'none.csv' } });
    expect(await problemsOf(planned)).toEqual(['--sheet none.csv: there is no such file; check the path']);
  });
});
