/** The help at its levels: program, topic, group, command with operands, command with most options. */
import type { Case } from '../stage.ts';

export const HELP: readonly Case[] = [
  '--help',
  'help exit-codes',
  'batch --help',
  'jobs get --help',
  'localize --help',
  'localize --help all',
].map((line) => ({ line }));
