/** Options that every command takes. */

import { FLAG_OPTIONS } from '../../profiles/settings.ts';
import { inGroup, type OptionValues } from './command.ts';
import { OUTPUT_MODES, type OutputMode } from './context.ts';
import type { OptionTable } from './option-table.ts';

export const GLOBAL_OPTIONS = {
  ...inGroup('Output:', {
    output: {
      type: 'choice',
      choices: OUTPUT_MODES,
      short: '-o',
      help: 'format of the data on stdout (default: table; json with --jq or --fields)',
    },
    jq: { type: 'text', value: 'expression', help: 'filter the JSON with a jq expression' },
    fields: {
      type: 'list',
      value: 'names',
      help: 'print only these fields of each record, separated by commas',
    },
  }),
  ...inGroup('General:', {
    quiet: { type: 'flag', short: '-q', help: 'no progress and no notes on stderr' },
    verbose: { type: 'flag', short: '-v', help: 'show requests on stderr, without secrets' },
    color: {
      type: 'choice',
      choices: ['auto', 'always', 'never'],
      default: 'auto',
      help: 'colour of messages and tables',
    },
    ...FLAG_OPTIONS,
  }),
} as const satisfies OptionTable;

export type GlobalValues = OptionValues<typeof GLOBAL_OPTIONS>;

/** --jq and --fields need JSON, so they select it unless another form is chosen. */
export function outputMode({
  output,
  jq,
  fields,
}: Pick<GlobalValues, 'output' | 'jq' | 'fields'>): OutputMode {
  return output ?? (jq === undefined && fields.length === 0 ? 'table' : 'json');
}
