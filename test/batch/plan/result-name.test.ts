import { resolve, sep } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultTemplate, fixStem, resultPath } from '../../../src/batch/plan/result-name.ts';
import { Failure } from '../../../src/client/failure.ts';

const parts = { stem: 'talk', lang: 'es', asset: 'video', id: 'loc_1', ext: '.mp4' };

describe('the name of a result', () => {
  it('fills in the parts of the template', () => {
    expect(resultPath('/out', '{stem}.{lang}{ext}', parts)).toBe('/out/talk.es.mp4');
    expect(resultPath('/out', '{lang}/{stem}-{id}{ext}', parts)).toBe('/out/es/talk-loc_1.mp4');
  });

  it('drops the dot of an empty part', () => {
    expect(resultPath('/out', '{stem}.{lang}{ext}', { ...parts, lang: '' })).toBe('/out/talk.mp4');
  });

  it('refuses a part that it does not know, naming those it does', () => {
    expect(() => resultPath('/out', '{title}', parts)).toThrow(Failure);
  });

  it.each(['../{stem}', '/etc/{stem}', 'a/../../{stem}', '{stem}/../..'])(
    'refuses the template %s',
    (template) => {
      expect(() => resultPath('/out', template, parts)).toThrow('leads out');
    },
  );

  it('stays inside the folder and in one name, whatever the stem', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 400 }), (stem) => {
        const path = resultPath('/out', '{stem}.{lang}{ext}', { ...parts, stem });
        const name = path.slice('/out/'.length);
        expect(resolve(path).startsWith(`/out${sep}`)).toBe(true);
        expect(name).not.toMatch(/[\\/\0]/);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
      }),
    );
  });

  it.each(['CON', '..', '.', 'a\u202egpm.exe'])('makes %j a name that every system takes', (stem) => {
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

it('a fixed stem is taken literally by the command that continues', () => {
  expect(fixStem('{stem}.{lang}{ext}', 'my {lang} talk')).toBe('my (lang) talk.{lang}{ext}');
});
