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
    if (input.type !== 'file') return null;
    const minutes = input.preparation?.minutes ?? null;
    return minutes === null ? fileUnits(kind, input.seconds) : { unit, quantity: minutes };
  }
  return input.type === 'lines' ? unitsOfLines(kind, input.parts ?? [input]) : null;
}

/** Units of subtitles in parts: each part begins a thousand characters of its own. */
export function unitsOfLines(
  kind: JobKind,
  parts: readonly { readonly lines: readonly SubtitleLine[] }[],
): Units {
  const { unit } = KINDS[kind];
  const count = (lines: readonly SubtitleLine[]) =>
    unit === 'line' ? lines.length : Math.ceil(countCharacters(lines) / BLOCK);
  return { unit, quantity: parts.reduce((sum, { lines }) => sum + count(lines), 0) };
}

/** Units of a file that is sent whole. @param seconds null when nobody can tell */
export function fileUnits(kind: JobKind, seconds: number | null): Units | null {
  const { unit } = KINDS[kind];
  if (unit !== 'started_minute' || seconds === null) return null;
  // To the millisecond, as containers count: 60.0004 s are one minute.
  return { unit, quantity: Math.ceil(Math.round(seconds * 1000) / MINUTE_MS) };
}

/** Unicode code points of all texts. */
function countCharacters(lines: readonly SubtitleLine[]): number {
  return lines.reduce((sum, { text }) => sum + [...text].length, 0);
}
