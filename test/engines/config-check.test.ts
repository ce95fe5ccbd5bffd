import { expect, it } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { checkEngines, fieldsOf, typesOf } from '../../src/engines/config-check.ts';

const WHISPER = { type: 'openai', url: 'http://gpu:8000/v1', model: 'large-v3' };
const VOICES = { type: 'openai', url: 'http://gpu:8880/v1', model: 'kokoro' };

/** The mistakes in a file, one line each, as users read them. */
function mistakesIn(value: unknown): string[] {
  try {
    checkEngines(value, 'engines.json');
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, category, message, errors = [] } = error.facts;
    expect([code, category, message]).toEqual([
      'ENGINES_INVALID',
      'configuration',
      'engines.json cannot be used',
    ]);
    return errors.map(({ pointer, detail }) => `${pointer}: ${detail}`);
  }
}

it('accepts the example of the documentation, without spaces around values', () => {
  const file = {
    $schema: './engines.schema.json',
    recognize: [
      { ...WHISPER, model: ' large-v3 ', key: { env: 'ASR_KEY' } },
      { type: 'sherpa', folder: '~/models/parakeet' },
      'pocketsphinx',
    ],
    translate: [{ ...WHISPER, context: 5 }, { type: 'libretranslate', url: 'http://gpu:5000' }, 'apertium'],
    speak: [
      { ...VOICES, voices: { es: { female: 'ef_dora', male: 'em_alex' }, fr: 'ff_siwis' } },
      { type: 'sherpa', folder: '~/models/piper-es', languages: ['es'], fallback: false, threads: 2 },
      'flite',
      'espeak-ng',
    ],
    separate: [
      {
        type: 'command',
        run: ['demucs', '-o', '{out}', '{input}'],
        vocals: 'v.wav',
        background: 'b.wav',
        timeout: 600,
        concurrency: 1,
      },
      'builtin',
    ],
  };
  const checked = checkEngines(file, 'engines.json');
  expect(checked.recognize?.[0]).toMatchObject({ model: 'large-v3' });
  expect(checkEngines({}, 'engines.json')).toEqual({});
});

it.each<readonly [unknown, string]>([
  [null, 'engines.json: must be an object of steps: recognize, translate, speak, separate, diarize, mark'],
  [{ transalte: [] }, 'transalte: this version of vloc has no such step; did you mean translate?'],
  [
    { dub: [] },
    'dub: this version of vloc has no such step; known: recognize, translate, speak, separate, diarize, mark',
  ],
  [{ $schema: 3 }, '$schema: must be a string'],
  [{ translate: 'apertium' }, 'translate: must be a list of engines, in [ and ]'],
  [{ speak: [] }, 'speak: must have at least one engine; leave the list out to use flite and espeak-ng'],
  [
    { speak: ['festival'] },
    'speak[0]: "flite" and "espeak-ng" are the only names here; every other engine is an object with a "type"',
  ],
  [{ speak: [3] }, 'speak[0]: must be an object with a "type", or "flite", or "espeak-ng"'],
  [{ translate: ['apertum'] }, 'translate[0]: did you mean "apertium"?'],
  [
    { translate: ['apertium', 'pocketsphinx'] },
    'translate[1]: "pocketsphinx" belongs to the step "recognize"; "apertium" is the only name here; every other engine is an object with a "type"',
  ],
  [
    { translate: [{ url: 'http://gpu' }] },
    'translate[0] type: is missing; types for "translate" are openai, libretranslate, llama, command',
  ],
  [
    { translate: [{ type: 'opnai' }] },
    'translate[0] type: this version of vloc has no such type; did you mean openai?',
  ],
  [
    { recognize: [{ type: 'libretranslate', url: 'http://gpu' }] },
    'recognize[0] type: "libretranslate" cannot recognize; types for "recognize" are openai, sherpa, command',
  ],
  [
    { translate: [{ ...WHISPER, modle: 'x' }] },
    'translate[0] (openai) modle: this version of vloc has no such field; did you mean model?',
  ],
  [
    { recognize: ['pocketsphinx', { type: 'openai', url: 'http://gpu' }] },
    'recognize[1] (openai) model: is missing: name of the model on the server',
  ],
  [{ recognize: [{ ...WHISPER, model: ' ' }] }, 'recognize[0] (openai) model: must not be empty'],
  [{ recognize: [{ ...WHISPER, model: 3 }] }, 'recognize[0] (openai) model: must be a string'],
  [
    { recognize: [{ ...WHISPER, url: 'gpu:8000' }] },
    'recognize[0] (openai) url: must begin with http:// or https://',
  ],
  [
    { recognize: [{ ...WHISPER, url: 'http://me:canary@gpu' }] },
    'recognize[0] (openai) url: must have no user name or password; name a variable with the key in "key": {"env": "NAME"}',
  ],
  [
    { recognize: [{ ...WHISPER, key: 'canary' }] },
    'recognize[0] (openai) key: must be {"env": "NAME"} or {"command": ["program", "argument"]}, so that the key is in no file',
  ],
  [
    { recognize: [{ ...WHISPER, api_key: 'canary' }] },
    'recognize[0] (openai) api_key: this version of vloc has no such field; known: type, url, key, insecure, model, languages, fallback, concurrency, timeout, terms',
  ],
  [{ recognize: [{ ...WHISPER, timeout: '60' }] }, 'recognize[0] (openai) timeout: must be a number'],
  [{ recognize: [{ ...WHISPER, timeout: 0 }] }, 'recognize[0] (openai) timeout: must be at least 1'],
  [
    { recognize: [{ ...WHISPER, concurrency: 1.5 }] },
    'recognize[0] (openai) concurrency: must be a whole number',
  ],
  [{ recognize: [{ ...WHISPER, concurrency: 65 }] }, 'recognize[0] (openai) concurrency: must be at most 64'],
  [{ recognize: [{ ...WHISPER, fallback: 'no' }] }, 'recognize[0] (openai) fallback: must be true or false'],
  [
    { recognize: [{ ...WHISPER, languages: 'en' }] },
    'recognize[0] (openai) languages: must be a list of languages',
  ],
  [{ recognize: [{ ...WHISPER, languages: [] }] }, 'recognize[0] (openai) languages: must name a language'],
  [
    { recognize: [{ ...WHISPER, languages: ['en', 'englisch!'] }] },
    'recognize[0] (openai) languages[1]: must be a BCP 47 tag such as es or pt-BR',
  ],
  [
    { recognize: [{ type: 'command', run: 'whisper {input}' }] },
    'recognize[0] (command) run: must be a list such as ["program", "argument"]; no shell splits a line into words',
  ],
  [{ recognize: [{ type: 'command', run: [] }] }, 'recognize[0] (command) run: must name a program'],
  [{ recognize: [{ type: 'command', run: ['a', 3] }] }, 'recognize[0] (command) run[1]: must be a string'],
  [
    { recognize: [{ type: 'command', run: ['a'], format: 'vtt' }] },
    'recognize[0] (command) format: must be "srt" or "verbose_json"',
  ],
  [
    { separate: [{ type: 'command', run: ['demucs'], background: 'b.wav' }] },
    'separate[0] (command) vocals: is missing: file of the voice, below {out}',
  ],
  [
    { speak: [{ ...VOICES, voices: 'dora' }] },
    'speak[0] (openai) voices: must be an object of languages and voices',
  ],
  [
    { speak: [{ ...VOICES, voices: { es: { femal: 'dora' } } }] },
    'speak[0] (openai) voices.es.femal: this version of vloc has no such field; did you mean female?',
  ],
])('%j: %s', (file, mistake) => {
  const mistakes = mistakesIn(file);
  expect(mistakes).toEqual([mistake]);
  expect(mistakes.join()).not.toContain('canary');
});

it('lists all mistakes together', () => {
  const translate = [{ type: 'openai', url: 'http://gpu', modle: 'x' }, 'nothing-known'];
  expect(mistakesIn({ translate, speak: [] }).map((line) => line.split(':')[0])).toEqual([
    'translate[0] (openai) model',
    'translate[0] (openai) modle',
    'translate[1]',
    'speak',
  ]);
});

it('names the types of each step and their fields', () => {
  expect(typesOf('separate')).toEqual(['command']);
  expect(Object.keys(fieldsOf('translate', 'libretranslate'))).toContain('url');
  expect(fieldsOf('separate', 'openai')).toEqual({});
});
