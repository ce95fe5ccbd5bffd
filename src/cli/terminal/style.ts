/** Colour, only where it means something, and only where it is wanted. */
import { styleText } from 'node:util';
import type { Io } from '../../commands/io.ts';

export type ColourChoice = 'auto' | 'always' | 'never';

export interface Style {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly strong: (text: string) => string;
}

/** Decides by `--color`, then NO_COLOR and FORCE_COLOR, then whether the stream that is written to is a terminal. */
export function createStyle(io: Io, asked: ColourChoice, stream: 'stderr' | 'stdout' = 'stderr'): Style {
  let isWanted: boolean | undefined;
  // The streams are ours to judge: Node would look at those of the process.
  const paint = (format: Parameters<typeof styleText>[0]) => (text: string) => {
    isWanted ??= wantsColour(io, asked, stream);
    return isWanted ? styleText(format, text, { validateStream: false }) : text;
  };
  return {
    good: paint('green'),
    bad: paint('red'),
    warn: paint('yellow'),
    faint: paint('dim'),
    strong: paint('bold'),
  };
}

function wantsColour(io: Io, asked: ColourChoice, stream: 'stderr' | 'stdout'): boolean {
  if (asked === 'always') return true;
  if (asked === 'never') return false;
  // The convention of no-color.org: any value that is not empty.
  if (io.env.NO_COLOR !== undefined && io.env.NO_COLOR !== '') return false;
  if (io.env.FORCE_COLOR !== undefined && io.env.FORCE_COLOR !== '0') return true;
  return io[stream].isTTY === true && io.env.TERM !== 'dumb';
}
