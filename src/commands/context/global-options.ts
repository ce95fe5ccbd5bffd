/** Options that every command takes. */

import {
  choiceOption,
  flagOption,
  inGroup,
  listOption,
  type OptionTable,
  type OptionValues,
  textOption,
} from '../../base/option.ts';
import { FLAG_OPTIONS } from '../../profiles/settings.ts';
import { OUTPUT_MODES, type OutputMode } from './output/forms.ts';

export const GLOBAL_OPTIONS = {
  ...inGroup('Output:', {
    output: choiceOption(
      OUTPUT_MODES,
      'format of the data on stdout (default: table; json with --jq or --fields)',
      { short: '-o', daily: true },
    ),
    jq: textOption('expression', 'filter the JSON with a jq expression'),
    fields: listOption('names', 'print only these fields of each record, separated by commas'),
  }),
  ...inGroup('General:', {
    quiet: flagOption('no progress and no notes on stderr', { short: '-q' }),
    verbose: flagOption('show requests on stderr, without secrets', { short: '-v' }),
    color: choiceOption(['auto', 'always', 'never'], 'colour of messages and tables', { default: 'auto' }),
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
