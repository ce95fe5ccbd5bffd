/** What an input will be metered by, before it is uploaded. Source: specification, "Metering"; contract, "Credits". */

import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { Units } from '../item.ts';
import type { JobInput } from './input.ts';

const MINUTE_MS = 60_000;
/** Characters that are paid for together. */
const BLOCK = 1000;

/** Null for what only the service can measure: addresses, uploads, jobs, videos that nothing here can read. */
export function unitsOf(kind: JobKind, input: JobInput): Units | null {
  const { unit } = KINDS[kind];
  if (unit === 'started_minute') {
    if (input.type !== 'file' || input.seconds === null) return null;
    // To the millisecond, as containers count: 60.0004 s are one minute.
    return { unit, quantity: Math.ceil(Math.round(input.seconds * 1000) / MINUTE_MS) };
  }
  if (input.type !== 'lines') return null;
  const quantity = unit === 'line' ? input.lines.length : Math.ceil(countCharacters(input.lines) / BLOCK);
  return { unit, quantity };
}

/** Unicode code points of all texts. */
function countCharacters(lines: readonly SubtitleLine[]): number {
  return lines.reduce((sum, { text }) => sum + [...text].length, 0);
}
