/** Lines as somebody types them up to Tab, with what must be offered: made from the table of commands. */

import { factsOf } from '../../../src/base/option.ts';
import { flagName } from '../../../src/batch/inputs/field-flags.ts';
import { HELP_TOPICS } from '../../../src/cli/help.ts';
import { OUTPUT_MODES } from '../../../src/commands/context/context.ts';
import { GLOBAL_OPTIONS } from '../../../src/commands/context/global-options.ts';
import { COMMANDS } from '../../../src/commands/tree.ts';

export interface Case {
  readonly line: string;
  readonly offers: readonly string[];
}

/** Every command word, every option and every choice; straight from the table, not from what the scripts are made of. */
export async function listCases(): Promise<Case[]> {
  const perCommand = await Promise.all(
    COMMANDS.map(async ({ words, leaf }) => {
      const { options, operands } = await leaf.load();
      const line = ['vloc', ...words].join(' ');
      const all = Object.entries({ ...options, ...GLOBAL_OPTIONS });
      const values = Object.entries(options).flatMap(([name, option]) => {
        const { choices } = factsOf(option);
        return choices === undefined ? [] : [{ line: `${line} ${flagName(name)} `, offers: choices }];
      });
      const choices = operands?.choices === undefined ? [] : [{ line: `${line} `, offers: operands.choices }];
      return [
        ...words.map((word, at) => ({ line: ['vloc', ...words.slice(0, at), ''].join(' '), offers: [word] })),
        { line: `${line} --`, offers: [...all.map(([name]) => flagName(name)), '--help'] },
        ...values,
        ...choices,
      ];
    }),
  );
  return mergeLines([
    ...perCommand.flat(),
    // Options of all commands have the same values everywhere.
    { line: 'vloc localize -o ', offers: OUTPUT_MODES },
    { line: 'vloc jobs list -o ', offers: OUTPUT_MODES },
    { line: 'vloc ', offers: ['help'] },
    { line: 'vloc --', offers: ['--version', '--help'] },
    { line: 'vloc help ', offers: [...HELP_TOPICS.map(({ name }) => name), 'localize', 'jobs'] },
    { line: 'vloc help jobs ', offers: ['wait'] },
    { line: 'vloc serve --port 80 keys ', offers: ['create', 'revoke'] },
    { line: 'vloc jobs list --output=n', offers: ['--output=ndjson'] },
    { line: 'vloc jobs list --kind dubbing,a', offers: ['dubbing,audio_separation'] },
    { line: 'vloc jobs get --fields id,s', offers: ['id,status'] },
    { line: 'vloc jobs get --profile ', offers: ['local', 'staging'] },
    { line: 'vloc profile use ', offers: ['local', 'staging'] },
    { line: 'vloc jobs wait ', offers: ['dub_newer', 'loc_older'] },
    { line: 'vloc jobs wait loc_older --output=json d', offers: ['dub_newer'] },
    { line: 'vloc upload get ', offers: ['upl_here'] },
    { line: 'vloc localize --to ', offers: ['es', 'ca'] },
    { line: 'vloc localize --to es,c', offers: ['es,ca'] },
    { line: 'vloc dub --to s', offers: ['sw', 'sv'] },
    { line: 'vloc localize --body @ta', offers: ['@talk.srt'] },
  ]);
}

/** Each line once, with all that it must offer. */
function mergeLines(cases: readonly Case[]): Case[] {
  return Array.from(
    Map.groupBy(cases, ({ line }) => line),
    ([line, same]) => ({ line, offers: [...new Set(same.flatMap(({ offers }) => offers))] }),
  );
}

/** Lines with all that may be offered, and nothing else. */
export const EXACT: readonly Case[] = [
  { line: 'vloc jobs list --sta', offers: ['--status'] },
  { line: 'vloc jobs list --limit ', offers: [] },
  { line: 'vloc nonsense ', offers: [] },
  { line: 'vloc jobs nonsense ', offers: [] },
  { line: 'vloc credits ', offers: ['history'] },
];

/** What is missing of each case: empty when all is offered. */
export function missingFrom(
  offered: ReadonlyMap<string, readonly string[]>,
  cases: readonly Case[],
): string[] {
  return cases.flatMap(({ line, offers }) =>
    offers
      .filter((word) => offered.get(line)?.includes(word) !== true)
      .map((word) => `${line}[Tab]: ${word}`),
  );
}

/** The candidates after each `COMPLETED line`. */
export function readOffered(output: string): Map<string, string[]> {
  const parts = output.split(/^COMPLETED /m).slice(1);
  return new Map(
    parts.map((part) => {
      const [line = '', ...candidates] = part.split('\n');
      return [line, candidates.filter((each) => each !== '')];
    }),
  );
}
