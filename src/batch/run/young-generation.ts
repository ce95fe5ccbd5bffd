/** Memory for objects of short life, as V8 keeps it. Source: v8.dev, "Trash talk: the Orinoco garbage collector". */
import { setFlagsFromString } from 'node:v8';

/** With fewer, a run stays under 150 MiB anyway. */
const MANY_ITEMS = 1_000;

/**
 * Keeps the young generation as small as it is: when thousands of items outlive it at once V8 lets it grow to 96 MiB, and
 * never takes that back. What a run throws away is gone after one answer or one line of the journal, so it needs no more.
 */
export function keepYoungGenerationSmall(items: number): void {
  if (items >= MANY_ITEMS) setFlagsFromString('--semi-space-growth-factor=1');
}
