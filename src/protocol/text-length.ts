/**
 * True when a text has more characters (Unicode code points) than the limit.
 * A code point is one or two UTF-16 units, so most texts are decided by their length, without being taken apart.
 */
export function isLongerThan(limit: number, text: string): boolean {
  if (text.length <= limit) return false;
  return text.length > 2 * limit || [...text].length > limit;
}
