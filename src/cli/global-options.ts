/** Options that every command takes. */
import type { OptionTable, OptionValues } from '../commands/command.ts';
import { OUTPUT_MODES } from '../commands/context.ts';

export const GLOBAL_OPTIONS = {
  output: {
    type: 'choice',
    choices: OUTPUT_MODES,
    default: 'table',
    short: '-o',
    help: 'form of the data on stdout',
  },
  quiet: { type: 'flag', short: '-q', help: 'no progress and no notes on stderr' },
  verbose: { type: 'flag', short: '-v', help: 'show requests on stderr, without secrets' },
  color: { type: 'choice', choices: ['auto', 'always', 'never'], default: 'auto', help: 'colour on stderr' },
} as const satisfies OptionTable;

export type GlobalValues = OptionValues<typeof GLOBAL_OPTIONS>;
