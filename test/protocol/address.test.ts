import { domainToASCII } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAddress } from '../../src/protocol/address.ts';

/** The host as a program reads it that follows RFC 3986, appendix B, to the letter. */
function hostByGrammar(text: string): string {
  const [, authority = ''] = /^[^:/?#]+:\/\/([^/?#]*)/.exec(text) ?? [];
  return authority.slice(authority.lastIndexOf('@') + 1).replace(/:\d*$/, '');
}

describe('an address', () => {
  it.each([
    'https://example.com\\@127.0.0.1/',
    'https://127.0.0.1\\@example.com/',
    'https:\\\\example.com/',
    'https:/example.com/a.mp4',
    'https:example.com/a.mp4',
    'https:///example.com/a.mp4',
    'HTTPS:////example.com',
    'https://?a.mp4',
    'https://#',
    'https://',
    '//example.com/a.mp4',
    '/home/me/talk.mp4',
    'talk.mp4',
    '',
    'https://exa\tmple.com/',
    'https://example.com/\0',
    ' https://example.com/',
    'https://example.com/\u2028',
    'https://[::1/',
    'https://example.com:99999/',
  ])('is not %j', (text) => {
    expect(parseAddress(text)).toBeNull();
  });

  it.each([
    'https://example.com/a.mp4?x=a%5Cb#t',
    'https://EXAMPLE.com:443',
    'https://例え.example/ビデオ.mp4',
    'http://127.0.0.1:8080/',
    'ftp://example.com/a',
    'file:///etc/passwd',
  ])('may be %s', (text) => {
    expect(parseAddress(text)?.href).toBe(new URL(text).href);
  });

  it('may be relative to another one, but is checked as strictly', () => {
    const base = 'https://example.com/a/b.mp4';
    expect(parseAddress('c.mp4?d', base)?.href).toBe('https://example.com/a/c.mp4?d');
    expect(parseAddress('//example.org/', base)?.href).toBe('https://example.org/');
    expect(parseAddress('http://127.0.0.1/', base)?.href).toBe('http://127.0.0.1/');
    for (const text of ['https:c.mp4', '\\\\127.0.0.1\\', 'https:///127.0.0.1/', '/a\nb']) {
      expect(parseAddress(text, base)).toBeNull();
    }
  });

  /** Pieces on which parsers of addresses are known to disagree. */
  const piece = fc.constantFrom(
    ...[
      'https:',
      'http:',
      'HTTPS:',
      '/',
      '//',
      '\\',
      '@',
      ':',
      '?',
      '#',
      '.',
      '%2F',
      '%5c',
      '[::1]',
      ' ',
      '\t',
      '\n',
      '\0',
    ],
    ...[
      '127.0.0.1',
      'example.com',
      'localhost',
      'user',
      '8080',
      '443',
      'ß',
      '例え',
      'a.mp4',
      '2130706433',
      '0x7f.1',
    ],
  );
  const sloppy = fc
    .tuple(fc.constantFrom('', 'https://', 'http://', 'https:', 'https:/'), fc.array(piece, { maxLength: 8 }))
    .map(([start, pieces]) => start + pieces.join(''));

  it('leads to the same host in every program that reads it, and is unchanged when written out', () => {
    let accepted = 0;
    fc.assert(
      fc.property(sloppy, (text) => {
        const url = parseAddress(text);
        if (url === null || !/^https?:$/.test(url.protocol)) return;
        accepted += 1;
        // The host is brought into one form by the rules of names (IDNA) and of numbers, which both programs know.
        expect(parseAddress(url.href)?.href).toBe(url.href);
        expect(url.hostname).toBe(new URL(`http://${hostByGrammar(text)}`).hostname);
        const ascii = domainToASCII(hostByGrammar(text));
        if (ascii !== '') expect(url.hostname).toBe(ascii);
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });

  it('with a backslash, a space or a control character anywhere is refused', () => {
    const bad = fc.constantFrom('\\', ' ', '\t', '\r', '\n', '\0', '\x7f', '\u00a0');
    fc.assert(
      fc.property(
        fc.constantFrom('https://example.com/a.mp4', 'http://[::1]:8080/?x#y'),
        bad,
        fc.nat(),
        (text, character, at) => {
          const place = at % (text.length + 1);
          expect(parseAddress(text.slice(0, place) + character + text.slice(place))).toBeNull();
        },
      ),
    );
  });
});
