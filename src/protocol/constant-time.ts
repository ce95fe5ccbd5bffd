import { timingSafeEqual } from 'node:crypto';

/** Compares two strings in a time that tells nothing of where they differ; only their lengths may show. */
export function equalInConstantTime(left: string, right: string): boolean {
  const leftBytes = Buffer.from(left);
  const rightBytes = Buffer.from(right);
  return leftBytes.length === rightBytes.length && timingSafeEqual(leftBytes, rightBytes);
}
