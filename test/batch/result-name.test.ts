import { resolve, sep } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import {
  askedLanguage,
  defaultTemplate,
  fixParts,
  innerTemplate,
  NO_LANGUAGE,
  nameLanguage,
  resultPath,
  sampleTemplate,
  withoutUnknown,
} from '../../src/batch/result-name.ts';

const parts = { stem: 'talk', lang: 'es', asset: 'video', id: 'loc_1', ext: '.mp4' };

describe('the name of a result', () => {
  it('fills in the parts of the template', () => {
    expect(resultPath('/out', '{stem}.{lang}{ext}', parts)).toBe('/out/talk.es.mp4');
    expect(resultPath('/out', '{lang}/{stem}-{id}{ext}', parts)).toBe('/out/es/talk-loc_1.mp4');
  });

  it('leaves out a language that is not known, where the stem is before it', () => {
    for (const found of [null, '', NO_LANGUAGE, 'UND']) {
      expect(withoutUnknown('{stem}.{lang}{ext}', null, found)).toBe('{stem}{ext}');
      expect(withoutUnknown('{stem}.{lang}.sample{ext}', null, found)).toBe('{stem}.sample{ext}');
      expect(withoutUnknown('{lang}/{stem}{ext}', null, found)).toBe('{lang}/{stem}{ext}');
    }
    expect(withoutUnknown('{stem}.{lang}{ext}', NO_LANGUAGE, null)).toBe('{stem}.{lang}{ext}');
    expect(withoutUnknown('{stem}.{lang}{ext}', null, 'en')).toBe('{stem}.{lang}{ext}');
  });

  it('marks a sample, in all kinds of jobs', () => {
    const names = (['auto_localization', 'subtitle_recognition', 'audio_separation'] as const).map((kind) =>
      resultPath('/', sampleTemplate(defaultTemplate(kind)), parts),
    );
    expect(names).toEqual(['/talk.es.sample.mp4', '/talk.es.sample.mp4', '/talk.video.sample.mp4']);
  });

  it.each(['', null])('refuses a language that is %j: without it the result could be the input', (lang) => {
    expect(() => resultPath('/out', '{stem}.{lang}{ext}', { ...parts, lang })).toThrow('{lang}');
    expect(resultPath('/out', '{stem}{ext}', { ...parts, lang })).toBe('/out/talk.mp4');
  });

  it.each(['stem', 'id', 'asset', 'ext'] as const)('refuses an empty {%s}', (part) => {
    expect(() => resultPath('/out', `x.{${part}}`, { ...parts, [part]: '' })).toThrow(Failure);
  });

  it('refuses a placeholder that it does not know, naming the known ones', () => {
    expect(() => resultPath('/out', '{title}', parts)).toThrow(Failure);
  });

  it.each(['../{stem}', '/etc/{stem}', 'a/../../{stem}', '{stem}/../..'])(
    'refuses the template %s',
    (template) => {
      expect(() => resultPath('/out', template, parts)).toThrow('outside the output folder');
    },
  );

  it('stays inside the folder and in one path segment, whatever the stem', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 400 }), (stem) => {
        const path = resultPath('/out', '{stem}.{lang}{ext}', { ...parts, stem });
        const name = path.slice('/out/'.length);
        expect(resolve(path).startsWith(`/out${sep}`)).toBe(true);
        expect(name).not.toMatch(/[\\/\0]/);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
      }),
      { numRuns: 40 },
    );
  });

  const LONG = '講義'.repeat(50);
  const inFolder = (template: string, stem: string) =>
    resultPath('/out', template, { ...parts, stem }).slice('/out/'.length);

  it('is kept whole up to the limit of the file system', () => {
    const stem = '講'.repeat(70);
    expect(inFolder('{stem}.{lang}{ext}', stem)).toBe(`${stem}.es.mp4`);
  });

  it('of 300 bytes keeps its language and ending, and is cut between two characters', () => {
    const name = inFolder('{stem}.{lang}{ext}', LONG);
    expect(Buffer.byteLength(LONG)).toBe(300);
    expect(name).toMatch(/^(講義)+講?~[0-9a-f]{12}\.es\.mp4$/u);
    expect(Buffer.byteLength(`.${name}.part`)).toBeLessThanOrEqual(255);
    expect(inFolder('{stem}.{lang}{ext}', LONG)).toBe(name);
  });

  it.each([
    '{stem}.{lang}{ext}',
    '{lang}/{stem}{ext}',
    '{stem}',
    '{stem}-{stem}{ext}',
    `${'x'.repeat(250)}{stem}{ext}`,
  ])('of two stems that share 255 bytes differs: %s', (template) => {
    const shared = 'a'.repeat(255);
    expect(inFolder(template, `${shared} part 1`)).not.toBe(inFolder(template, `${shared} part 2`));
  });

  it.each(['CON', '..', '.', 'a\u202egpm.exe'])('changes %j to a name that every system accepts', (stem) => {
    const name = resultPath('/out', '{stem}{ext}', { ...parts, stem }).slice('/out/'.length);
    expect(name).not.toMatch(/^(con|\.+)(\.|$)|\u202e/i);
  });
});

describe('the default template', () => {
  it('names the language for one file and the asset for two', () => {
    expect(defaultTemplate('auto_localization')).toBe('{stem}.{lang}{ext}');
    expect(defaultTemplate('audio_separation')).toBe('{stem}.{asset}{ext}');
  });
});

it('the command that continues takes a fixed stem literally', () => {
  const fix = (lang: string | null) => fixParts('{stem}.{lang}{ext}', { stem: 'my {lang} talk', lang });
  expect(fix(null)).toBe('my (lang) talk.{lang}{ext}');
  expect(fix('es')).toBe('my (lang) talk.es{ext}');
});

describe('the language in a name', () => {
  it('is the requested one, whatever the job says', () => {
    expect(askedLanguage('auto_localization', { target_language: 'es', source_language: 'en' })).toBe('es');
    expect(nameLanguage('auto_localization', 'es', 'es-ES')).toBe('es');
    expect(askedLanguage('subtitle_recognition', { source_language: 'en' })).toBe('en');
  });

  it('is the one that the job has detected if that was its task, or undetermined', () => {
    expect(askedLanguage('subtitle_recognition', { source_language: 'auto' })).toBeNull();
    expect(askedLanguage('subtitle_recognition', {})).toBeNull();
    expect(nameLanguage('subtitle_recognition', null, 'en')).toBe('en');
    expect(nameLanguage('subtitle_recognition', null, null)).toBe('und');
    expect(nameLanguage('subtitle_recognition', null, 'UND')).toBe('und');
    expect(nameLanguage('auto_localization', null, '')).toBe('und');
  });

  it('is omitted for a result without a language', () => {
    expect(nameLanguage('audio_separation', null, 'en')).toBeNull();
    expect(innerTemplate('audio_separation')).not.toContain('{lang}');
    expect(innerTemplate('dubbing')).toContain('{lang}');
  });
});
