/** JSON: in files that people write, and in a form to compare. */

const MARK = '\uFEFF';

/** Parses JSON, also after a byte order mark, which editors on Windows write. @throws SyntaxError, which may quote the text */
export function parseJson(text: string): unknown {
  return JSON.parse(text.startsWith(MARK) ? text.slice(MARK.length) : text);
}

/** The bytes without a byte order mark. */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes.indexOf(MARK) === 0 ? bytes.subarray(Buffer.byteLength(MARK)) : bytes;
}

/** JSON with sorted keys and no spaces. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );
}
