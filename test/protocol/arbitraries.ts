/** Inputs for property tests: any text that UTF-8 can carry, and requests in every spelling that means the same. */
import fc from 'fast-check';

/** Finds nearly all mutants that thousands would find; `npm run mutation` repeats the test for each of them. */
const RUNS_PER_MUTANT = 100;

/** A nightly run tries more than one that somebody waits for; `npm run mutation` tries the fewest. */
export function runs(quick: number, long: number): number {
  if (process.env.VLOC_MUTATION_SUBJECT !== undefined) return Math.min(quick, RUNS_PER_MUTANT);
  return process.env.VLOC_LONG_TESTS === '1' ? long : quick;
}

/** Text of any Unicode characters, also control characters, without halves of surrogate pairs. */
export const anyText = (constraints: { minLength?: number; maxLength?: number } = {}) =>
  fc.string({ unit: 'binary', ...constraints });

export type Pair = readonly [name: string, value: string];

/** Query parameters with names that differ. */
export const pairs: fc.Arbitrary<Pair[]> = fc.uniqueArray(
  fc.tuple(anyText({ minLength: 1, maxLength: 8 }), anyText({ maxLength: 12 })),
  { selector: ([name]) => name, maxLength: 6 },
);

/** Decoded path segments that a request may have. */
export const segments: fc.Arbitrary<string[]> = fc.array(
  anyText({ minLength: 1, maxLength: 10 }).filter(
    (text) => !['.', '..'].includes(text) && !text.includes('/'),
  ),
  { minLength: 1, maxLength: 4 },
);

const UNRESERVED = /[A-Za-z0-9._~-]/;

/** RFC 3986, byte by byte; written apart from the code under test. */
export function percentEncode(text: string): string {
  const encoded = Array.from(Buffer.from(text), (byte) => {
    const character = String.fromCharCode(byte);
    const hex = byte.toString(16).toUpperCase().padStart(2, '0');
    return UNRESERVED.test(character) ? character : `%${hex}`;
  });
  return encoded.join('');
}

/** The canonical form of decoded parts, by another way than the code under test takes. */
export function expectedTarget(path: readonly string[], query: readonly Pair[]): string {
  const encoded = query.map(([name, value]): Pair => [percentEncode(name), percentEncode(value)]);
  encoded.sort(([left], [right]) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  const joined = encoded.map((pair) => pair.join('=')).join('&');
  return `/${path.map(percentEncode).join('/')}${joined === '' ? '' : `?${joined}`}`;
}

/** Characters that may stand unencoded in a query and still mean themselves. */
const PLAIN = /[A-Za-z0-9._~!$'()*,;:@/?+-]/;

/** Encodes as other programs might: needlessly, in lower-case hex, or not at all where that is allowed. */
export function encodeSloppily(text: string, choices: readonly number[]): string {
  const bytes = [...Buffer.from(text)];
  const encoded = bytes.map((byte, at) => {
    const choice = choices[at % choices.length] ?? 0;
    const character = String.fromCharCode(byte);
    if (choice === 0 && PLAIN.test(character)) return character;
    const hex = byte.toString(16).padStart(2, '0');
    return `%${choice === 1 ? hex : hex.toUpperCase()}`;
  });
  return encoded.join('');
}
