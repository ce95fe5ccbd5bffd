import type { TestSettings } from '../../../src/commands/context/context.ts';

/** Videos of more than five seconds are long, and are cut into parts of three; so are subtitles of more than four lines. */
export const LIMITS: NonNullable<TestSettings['limits']> = {
  seconds: 5,
  bytes: 1e9,
  lines: 4,
  parts: { equalSeconds: 3, mostSeconds: 4, mostBytes: 1e9 },
};
