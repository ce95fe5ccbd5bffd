/** What part of a file a request wants. Source: RFC 9110, "Range Requests". */
export type Part =
  | { readonly type: 'whole' }
  | { readonly type: 'part'; readonly start: number; readonly length: number }
  | { readonly type: 'unsatisfiable' };

const SINGLE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/** Reads a Range header; several ranges, other units and nonsense give the whole file, as the RFC allows. */
export function readRange(header: string | undefined, size: number): Part {
  const match = SINGLE_RANGE.exec(header ?? '');
  if (match === null) return { type: 'whole' };
  const [, first = '', last = ''] = match;
  if (first === '' && last === '') return { type: 'whole' };
  if (first === '') {
    const length = Math.min(Number(last), size);
    return length === 0 ? { type: 'unsatisfiable' } : { type: 'part', start: size - length, length };
  }
  const start = Number(first);
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== '' && Number(last) < start) return { type: 'whole' };
  if (start >= size) return { type: 'unsatisfiable' };
  return { type: 'part', start, length: end - start + 1 };
}
