import { timingSafeEqual } from 'node:crypto';

/** Compares two strings in a time that does not depend on where they differ. Only their lengths may affect it. */
export function equalInConstantTime(left: string, right: string): boolean {
  const leftBytes = Buffer.from(left);
  const rightBytes = Buffer.from(right);
  return leftBytes.length === rightBytes.length && timingSafeEqual(leftBytes, rightBytes);
}
