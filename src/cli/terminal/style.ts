/** Colour, only where it means something, and only where it is wanted. */
import type { Io } from '../../commands/context/context.ts';

type ColourChoice = 'auto' | 'always' | 'never';

export interface Style {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly strong: (text: string) => string;
}

/** Used where no colour is wanted, so that such a run does not load chalk. */
const PLAIN: Style = { good: same, bad: same, warn: same, faint: same, strong: same };

/** Decides by `--color`, then NO_COLOR and FORCE_COLOR, then whether the stream that is written to is a terminal. */
export async function loadStyle(
  io: Io,
  asked: ColourChoice,
  stream: 'stderr' | 'stdout' = 'stderr',
): Promise<Style> {
  if (!wantsColour(io, asked, stream)) return PLAIN;
  const { Chalk } = await import('chalk');
  // The decision is made: chalk would make its own, for the streams of the process.
  const { green, red, yellow, dim, bold } = new Chalk({ level: 1 });
  return { good: green, bad: red, warn: yellow, faint: dim, strong: bold };
}

function same(text: string): string {
  return text;
}

function wantsColour(io: Io, asked: ColourChoice, stream: 'stderr' | 'stdout'): boolean {
  if (asked === 'always') return true;
  if (asked === 'never') return false;
  // The convention of no-color.org: any value that is not empty.
  if (io.env.NO_COLOR !== undefined && io.env.NO_COLOR !== '') return false;
  if (io.env.FORCE_COLOR !== undefined && io.env.FORCE_COLOR !== '0') return true;
  return io[stream].isTTY === true && io.env.TERM !== 'dumb';
}
