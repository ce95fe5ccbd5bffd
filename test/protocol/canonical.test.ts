import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canonicalTarget,
  encodeComponent,
  formatQuery,
  parseQuery,
  TargetError,
} from '../../src/protocol/canonical.ts';
import {
  anyText,
  encodeSloppily,
  expectedTarget,
  type Pair,
  pairs,
  percentEncode,
  runs,
  segments,
} from './arbitraries.ts';

/** Made outside the project, by another program. */
const vectors: {
  valid: { method: string; target: string; canonical: string }[];
  rejected: { target: string }[];
} = JSON.parse(readFileSync(new URL('../fixtures/canonical-vectors.json', import.meta.url), 'utf8'));

describe('the canonical target', () => {
  it('equals all 14 vectors made outside the project', () => {
    expect(vectors.valid).toHaveLength(14);
    for (const { target, canonical } of vectors.valid) {
      expect(canonicalTarget(target)).toBe(canonical.split('\n')[1]);
    }
  });

  it('refuses all 10 targets that the vectors refuse', () => {
    expect(vectors.rejected).toHaveLength(10);
    for (const { target } of vectors.rejected) expect(() => canonicalTarget(target)).toThrow(TargetError);
  });

  it.each([
    ['', 'does not start with a slash'],
    ['v1/credits', 'does not start with a slash'],
    ['?limit=1', 'does not start with a slash'],
    ['https://api.example.com/v1/credits', 'does not start with a slash'],
    ['*', 'does not start with a slash'],
    ['/v1/credits#part', 'a fragment'],
    ['/v1/a b', 'outside visible ASCII'],
    ['/v1/a\tb', 'outside visible ASCII'],
    ['/v1/a\u007f', 'outside visible ASCII'],
    ['/v1/é', 'outside visible ASCII'],
    ['/v1//credits', 'an empty segment'],
    ['/v1/./credits', 'a dot segment'],
    ['/v1/../credits', 'a dot segment'],
    ['/v1/%2e', 'a dot segment'],
    ['/v1/%2E%2e/credits', 'a dot segment'],
    ['/v1/a%2fb', 'an encoded slash'],
    ['/v1/a%', 'a percent sign'],
    ['/v1/a%4', 'a percent sign'],
    ['/v1/a%ff', 'a percent sign'],
    ['/v1/uploads?a=%zz', 'a percent sign'],
    ['/v1/uploads?a=1&a=2', 'the query parameter "a" is repeated'],
    ['/v1/uploads?a=1&%61=2', 'the query parameter "a" is repeated'],
    ['/v1/uploads?=1', 'a query parameter has no name'],
    ['/v1/uploads?a=1&', 'a query parameter has no name'],
    ['/v1/uploads?a=1&&b=2', 'a query parameter has no name'],
  ])('does not exist for %j: %s', (target, reason) => {
    expect(() => canonicalTarget(target)).toThrow(TargetError);
    expect(() => canonicalTarget(target)).toThrow(reason);
  });

  it.each([
    ['/', '/'],
    ['/v1/uploads/', '/v1/uploads/'],
    ['/v1/uploads?', '/v1/uploads'],
    ['/v1/...', '/v1/...'],
    ['/v1/a?name', '/v1/a?name='],
    ['/v1/a?name=', '/v1/a?name='],
    ['/v1/a?x=1=2', '/v1/a?x=1%3D2'],
    ['/v1/a?x=a/b?c', '/v1/a?x=a%2Fb%3Fc'],
    ['/v1/a?b=1&a.=2&a-=3&a=4', '/v1/a?a=4&a-=3&a.=2&b=1'],
    ['/v1/a?%C3%A9=1&z=2&Z=3', '/v1/a?%C3%A9=1&Z=3&z=2'],
    ['/v1/%41%7e', '/v1/A~'],
  ])('of %s is %s', (target, expected) => {
    expect(canonicalTarget(target)).toBe(expected);
  });

  it('is the same for every spelling of the same request, in every order', () => {
    const spelling = fc.array(fc.nat(2), { minLength: 1, maxLength: 7 });
    const shuffled = pairs.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(segments, shuffled, spelling, (path, [list, order], choices) => {
        const encode = (text: string) => encodeSloppily(text, choices);
        // In a path, a slash and a question mark have a meaning of their own.
        const rawPath = path.map((segment) => encode(segment).replaceAll('?', '%3f')).join('/');
        const rawQuery = order.map(([name, value]: Pair) => `${encode(name)}=${encode(value)}`).join('&');
        expect(canonicalTarget(`/${rawPath}?${rawQuery}`)).toBe(expectedTarget(path, list));
      }),
      { numRuns: runs(300, 10_000) },
    );
  });

  it('is its own canonical form', () => {
    fc.assert(
      fc.property(segments, pairs, (path, list) => {
        const target = expectedTarget(path, list);
        expect(canonicalTarget(target)).toBe(target);
      }),
      { numRuns: runs(300, 10_000) },
    );
  });

  it('fails in one way only, whatever the input', () => {
    const near = fc.array(
      fc.constantFrom(
        '/',
        '?',
        '&',
        '=',
        '%',
        '%2',
        '%2F',
        '%2e',
        '.',
        '#',
        '+',
        'a',
        'é',
        ' ',
        '%C3',
        '%A9',
      ),
      { maxLength: 12 },
    );
    const any = fc.oneof(
      anyText(),
      near.map((parts) => `/${parts.join('')}`),
    );
    fc.assert(
      fc.property(any, (target) => {
        try {
          const canonical = canonicalTarget(target);
          expect(canonicalTarget(canonical)).toBe(canonical);
        } catch (error) {
          expect(error).toBeInstanceOf(TargetError);
        }
      }),
      { numRuns: runs(500, 50_000) },
    );
  });
});

describe('encoding of a component', () => {
  it('leaves the unreserved characters and encodes every other byte', () => {
    fc.assert(fc.property(anyText(), (text) => encodeComponent(text) === percentEncode(text)));
    expect(encodeComponent("!'()*")).toBe('%21%27%28%29%2A');
  });

  it('refuses half of a surrogate pair, which UTF-8 cannot encode', () => {
    expect(() => encodeComponent('a\ud83d')).toThrow(TargetError);
    expect(() => formatQuery([['client_reference', '\ude00']])).toThrow('half of a surrogate pair');
  });
});

describe('a query', () => {
  it('is restored as it was written', () => {
    fc.assert(
      fc.property(pairs, (list) => {
        const query = formatQuery(list);
        expect(query.startsWith('?')).toBe(list.length > 0);
        expect(parseQuery(query.slice(1))).toEqual(new Map(list));
      }),
    );
  });

  it('orders equal names by value', () => {
    const query = formatQuery([
      ['a', '2'],
      ['b', '0'],
      ['a', '10'],
      ['a', '2'],
    ]);
    expect(query).toBe('?a=10&a=2&a=2&b=0');
  });

  it('keeps a plus sign, which is not a space here', () => {
    expect(parseQuery('a=b+c')).toEqual(new Map([['a', 'b+c']]));
  });
});
