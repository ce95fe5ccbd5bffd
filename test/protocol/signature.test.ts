import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalRequest, EMPTY_SHA256, sha256Hex, signRequest } from '../../src/protocol/signature.ts';
import { makeFolder } from '../support/make-folder.ts';
import { expectedTarget, pairs, runs, segments } from './arbitraries.ts';

interface Vector {
  readonly method: string;
  readonly target: string;
  readonly body: string;
  readonly body_sha256: string;
  readonly canonical: string;
  readonly signature: string;
}

const vectors: { secret: string; timestamp: string; nonce: string; valid: Vector[] } = JSON.parse(
  readFileSync(new URL('../fixtures/canonical-vectors.json', import.meta.url), 'utf8'),
);

const method: fc.Arbitrary<string> = fc.constantFrom('GET', 'POST', 'DELETE');
const timestamp = fc.integer({ min: 1_000_000_000, max: 4_000_000_000 }).map(String);
const nonce = fc
  .uint8Array({ minLength: 16, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('base64url'));
const secret = fc.string({ minLength: 1, maxLength: 40, unit: fc.constantFrom(...'abcXYZ0189_-') });

const request = fc.record({ method, path: segments, query: pairs, timestamp, nonce, body: fc.uint8Array() });
type Request = typeof request extends fc.Arbitrary<infer R> ? R : never;

function sign(key: string, { method, path, query, timestamp, nonce, body }: Request): string {
  return signRequest(key, {
    method,
    target: expectedTarget(path, query),
    timestamp,
    nonce,
    bodySha256: sha256Hex(body),
  });
}

describe('the signature of a request', () => {
  it('equals all 14 vectors made outside the project', () => {
    for (const vector of vectors.valid) {
      const parts = {
        method: vector.method,
        target: vector.target,
        timestamp: vectors.timestamp,
        nonce: vectors.nonce,
        bodySha256: sha256Hex(vector.body),
      };
      expect(parts.bodySha256).toBe(vector.body_sha256);
      expect(canonicalRequest(parts)).toBe(vector.canonical);
      expect(signRequest(vectors.secret, parts)).toBe(vector.signature);
    }
  });

  it('uses the method in upper case however it is written', () => {
    const parts = { target: '/v1/credits', timestamp: '1700000000', nonce: 'n', bodySha256: EMPTY_SHA256 };
    expect(canonicalRequest({ method: 'delete', ...parts })).toBe(
      `DELETE\n/v1/credits\n1700000000\nn\n${EMPTY_SHA256}`,
    );
  });

  it('includes the known hash of an absent body', () => {
    expect(EMPTY_SHA256).toBe(sha256Hex(''));
    expect(EMPTY_SHA256).toBe(sha256Hex(new Uint8Array()));
  });

  it('changes with every byte of what is signed', () => {
    const place = fc.nat();
    const replace = (text: string, at: number, by: string) => {
      const characters = [...text];
      characters[at % characters.length] = by;
      return characters.join('');
    };
    const other = (text: string, at: number) => ([...text].at(at % [...text].length) === 'x' ? 'y' : 'x');
    const change = (text: string, at: number) => replace(text, at, other(text, at));
    const changes: Record<string, (original: Request, at: number) => Request | null> = {
      method: (original, at) => ({ ...original, method: change(original.method, at).toUpperCase() }),
      path: (original, at) => ({
        ...original,
        path: [change(original.path[0] ?? '', at), ...original.path.slice(1)],
      }),
      segment: (original) => ({ ...original, path: [...original.path, 'x'] }),
      value: ({ query: [first, ...rest], ...original }, at) =>
        first === undefined
          ? null
          : { ...original, query: [[first[0], first[1] === '' ? 'x' : change(first[1], at)], ...rest] },
      pair: (original) => ({ ...original, query: original.query.slice(1) }),
      timestamp: (original, at) => ({ ...original, timestamp: change(original.timestamp, at) }),
      nonce: (original, at) => ({ ...original, nonce: change(original.nonce, at) }),
      body: (original, at) => {
        const body = Uint8Array.from([...original.body, 0]);
        const index = at % body.length;
        body[index] = (body[index] ?? 0) ^ (1 << (at % 8));
        return { ...original, body };
      },
    };
    fc.assert(
      fc.property(
        request,
        secret,
        place,
        fc.constantFrom(...Object.keys(changes)),
        (original, key, at, name) => {
          const changed = changes[name]?.(original, at) ?? null;
          fc.pre(changed !== null && (name !== 'pair' || original.query.length > 0));
          expect(sign(key, changed)).not.toBe(sign(key, original));
          expect(sign(`${key}x`, original)).not.toBe(sign(key, original));
        },
      ),
      { numRuns: runs(150, 10_000) },
    );
  });

  it('equals the one that openssl computes', () => {
    const folder = makeFolder();
    // One key, since openssl takes one for many files: one process signs the whole batch.
    const key = 'a-secret-0123456789';
    const cases = fc.sample(request, 100);
    const digest = (kind: string, contents: readonly (string | Uint8Array)[], options: readonly string[]) => {
      const files = contents.map((content, index) => {
        const file = join(folder, `${kind}${index}`);
        writeFileSync(file, content);
        return file;
      });
      const output = execFileSync('openssl', ['dgst', '-sha256', ...options, '-r', ...files], {
        encoding: 'utf8',
      });
      return output
        .trim()
        .split('\n')
        .map((line) => line.slice(0, 64));
    };
    const bodies = digest(
      'body',
      cases.map(({ body }) => body),
      [],
    );
    const lines = cases.map(({ method, path, query, timestamp, nonce }, index) =>
      [method, expectedTarget(path, query), timestamp, nonce, bodies[index]].join('\n'),
    );
    const expected = digest('request', lines, ['-hmac', key]);
    expect(cases.map((each) => sign(key, each))).toEqual(expected);
  });
});
