/** Digests for names and comparisons within one folder. */
import { hash } from 'node:crypto';

/** 64 bits tell apart a million things with a chance of one in 30 million that two are the same. */
const DIGITS = 16;

/** The beginning of the SHA-256, as 16 hex digits. */
export function shortDigest(content: string | Uint8Array): string {
  return hash('sha256', content).slice(0, DIGITS);
}
