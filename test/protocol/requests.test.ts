import { describe, expect, it } from 'vitest';
import type { JobKind } from '../../src/protocol/kind-names.ts';
import { checkJobRequest } from '../../src/protocol/requests.ts';

const source = { type: 'url', url: 'https://media.example.com/talk.mp4' };
const subtitle = { type: 'upload', upload_id: 'upl_01jd6m3v0000000000000000zz' };
const target_language = 'es';

/** Each broken rule as `pointer: detail`. */
function faults(kind: JobKind, body: unknown): string[] {
  const checked = checkJobRequest(kind, body);
  return checked.ok ? [] : checked.errors.map(({ pointer, detail }) => `${pointer}: ${detail}`);
}

/** A request that is right but for what is given. */
const separation = (change: Record<string, unknown>) => faults('audio_separation', { source, ...change });
const dubbing = (change: Record<string, unknown>) =>
  faults('dubbing', { subtitle, target_language, ...change });
const fromUrl = (url: unknown) => separation({ source: { type: 'url', url } });

describe('a request', () => {
  it('is complete with its required fields, and gets the defaults', () => {
    expect(checkJobRequest('dubbing', { subtitle, target_language })).toEqual({
      ok: true,
      value: { subtitle, target_language, voice_mode: 'auto' },
    });
    expect(faults('dubbing', {})).toEqual(['/subtitle: is required', '/target_language: is required']);
    expect(faults('dubbing', [])).toEqual(['/subtitle: is required', '/target_language: is required']);
  });

  it.each(['speed', '__proto__', 'constructor', 'toString'])('has no field %s', (name) => {
    const body = JSON.parse(JSON.stringify({ source }).replace('{', `{"${name}":1,`));
    expect(faults('audio_separation', body)).toEqual([`/${name}: there is no such field`]);
  });

  it.each([null, undefined, 'text', 7, true])('is not %j', (body) => {
    expect(faults('audio_separation', body)[0]).toMatch(/^: /);
  });

  it.each(['AUTO', '', null, 1, ['auto']])(
    'has a choice that is not %j, and names the choices',
    (voice_mode) => {
      expect(dubbing({ voice_mode })[0]).toMatch(/^\/voice_mode: .*"auto"/);
    },
  );
});

describe('an input', () => {
  it.each([
    'https://a.example/x.mp4',
    // The service decides whether such an address can be used: with 422, like every input.
    'http://a.example/x.mp4',
    'http://127.0.0.1@a.example/x.mp4',
    'file:///etc/passwd',
    'http://127.0.0.1:8080/x.mp4',
    'http://localhost/x.mp4',
    'http://[::1]:8080/x.mp4',
  ])('may be at %s', (url) => {
    expect(fromUrl(url)).toEqual([]);
  });

  it.each([
    ['', 'not an address'],
    ['/home/me/talk.mp4', 'not an address'],
    ['https:/a.example/x.mp4', 'not an address'],
    ['https://a.example\\@127.0.0.1/', 'has a space, a backslash or a control character'],
    ['https://a.example/x\r\nHost: b', 'has a space, a backslash or a control character'],
    [7, 'Expected string'],
  ])('may not be at %j', (url, detail) => {
    expect(fromUrl(url).join('\n')).toContain(`/source/url: `);
    expect(fromUrl(url).join('\n')).toContain(detail);
  });

  it('has an address of at most 2,048 characters', () => {
    const start = 'https://a.example/';
    const longest = start.padEnd(2_048, 'x');
    expect(fromUrl(longest)).toEqual([]);
    expect(fromUrl(`${longest}x`)).toEqual(['/source/url: at most 2048 characters']);
  });

  it('is an address or an upload, and for subtitles also lines', () => {
    expect(separation({ source: { type: 'upload', upload_id: 'upl_1' } })).toEqual([]);
    expect(separation({ source: { type: 'upload', upload_id: '' } })).toEqual(['/source/upload_id: missing']);
    expect(separation({ source: { type: 'upload' } })).toEqual(['/source/upload_id: is required']);
    expect(separation({ source: { type: 'lines', lines: [] } })[0]).toMatch('/source/type: ');
    expect(separation({ source: {} })).toEqual(['/source/type: is required']);
    expect(separation({ source: 'https://a.example/x' })[0]).toMatch(/^\/source: /);
    expect(dubbing({ subtitle: source })).toEqual([]);
    const lines = [{ index: 1, start_ms: 0, end_ms: 1, text: 'x' }];
    expect(dubbing({ subtitle: { type: 'lines', lines } })).toEqual([]);
  });

  it('has no field of another form', () => {
    const both = { type: 'url', url: source.url, upload_id: 'upl_1' };
    expect(separation({ source: both })).toEqual(['/source/upload_id: there is no such field']);
    expect(separation({ source: { ...both, type: 'upload' } })).toEqual([
      '/source/url: there is no such field',
    ]);
  });
});

describe('a language', () => {
  it('is converted to canonical case', () => {
    const checked = checkJobRequest('subtitle_translation', {
      subtitle,
      source_language: 'EN-us',
      target_language: 'pt-br',
    });
    expect(checked).toMatchObject({
      ok: true,
      value: { source_language: 'en-US', target_language: 'pt-BR' },
    });
  });

  it('is a tag, and auto only as the source', () => {
    for (const wrong of ['auto', '', 'en_US']) {
      expect(dubbing({ target_language: wrong })).toEqual(['/target_language: not a BCP 47 language tag']);
    }
    for (const wrong of ['AUTO', '', 'en_US', 7, null]) {
      expect(faults('subtitle_recognition', { source, source_language: wrong })).toEqual([
        '/source_language: neither a BCP 47 language tag nor auto',
      ]);
    }
    expect(faults('subtitle_recognition', { source, source_language: 'auto' })).toEqual([]);
  });
});

describe('a reference', () => {
  it('may be a blank, and 128 characters of two units each', () => {
    for (const client_reference of [' ', '😀'.repeat(128)])
      expect(separation({ client_reference })).toEqual([]);
  });

  it.each([
    ['empty', '', 'at least 1 character'],
    ['of 129 emoji', '😀'.repeat(129), 'at most 128 characters'],
    ['null', null, 'Invalid type: Expected string but received null'],
    ['a number', 7, 'Invalid type: Expected string but received 7'],
  ])('may not be %s', (_name, client_reference, detail) => {
    expect(separation({ client_reference })).toEqual([`/client_reference: ${detail}`]);
  });
});

describe('a callback', () => {
  it('is an https address', () => {
    expect(separation({ callback_url: 'https://a.example/hook' })).toEqual([]);
    expect(separation({ callback_url: 'http://a.example/hook' })).toEqual([
      '/callback_url: must be an https address',
    ]);
    for (const wrong of [
      'http://127.0.0.1.example.com/',
      'http://127.0.0.1@a.example/',
      'ftp://a.example/',
    ]) {
      expect(separation({ callback_url: wrong })).toEqual(['/callback_url: must be an https address']);
    }
    expect(separation({ callback_url: 'http://127.0.0.1:8080/hook' })).toEqual([]);
    expect(separation({ callback_url: '' })).toContain('/callback_url: not an address');
  });
});

describe('the answer to an invalid request', () => {
  it('names all invalid fields', () => {
    const pointers = dubbing({ target_language: '', voice_mode: 'robot', client_reference: '' });
    expect(pointers.map((fault) => fault.split(':')[0])).toEqual([
      '/target_language',
      '/voice_mode',
      '/client_reference',
    ]);
  });

  it('escapes names by the rules of JSON Pointer', () => {
    expect(separation({ 'a/b~c': 1 })).toEqual(['/a~1b~0c: there is no such field']);
  });
});
