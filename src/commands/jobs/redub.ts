/** The options of dubs after an edit. */
import { usageFailure } from '../../base/failure.ts';
import type { RedubChoices } from '../../batch/plan/redub.ts';
import { stripAddress } from '../../batch/records/secrets.ts';
import type { RunOptions } from '../../batch/run/batch.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { invalidCallFailure } from '../context/command.ts';
import { readSettings } from '../context/connection.ts';
import type { Context } from '../context/context.ts';
import { type JobOptions, readRunOptions } from './job-options.ts';

/** The name of the embedded service, whose address differs from run to run. */
const EMBEDDED = 'embedded';

/**
 * The options of a run, with those for dubs.
 * @param kind of the command
 * @param renewExpired see `readRunOptions`
 * @throws Failure (`usage`) for options that cannot be read, or contradict each other
 */
export function readDubOptions(
  kind: JobKind,
  options: JobOptions,
  context: Context,
  renewExpired = false,
): RunOptions {
  const runOptions = readRunOptions(options, renewExpired);
  if (kind !== 'dubbing' && kind !== 'auto_localization') return runOptions;
  const { whole = false, only } = options;
  const numbers = only === undefined ? null : parseNumbers(only);
  const conflict = whole ? '--whole' : options.fresh ? '--fresh' : options.watch ? '--watch' : null;
  if (numbers !== null && conflict !== null) {
    const message = `--only dubs some lines again, and ${conflict} cannot be combined with it`;
    throw invalidCallFailure(message, 'Leave one of them out.');
  }
  const service: RedubChoices['service'] = async () => {
    const { baseUrl } = await readSettings(context, () => undefined);
    return baseUrl.value === null ? EMBEDDED : stripAddress(baseUrl.value.replace(/\/+$/, ''));
  };
  return { ...runOptions, redub: { whole, only: numbers, service } };
}

/** Numbers in `12,15-18`. @throws Failure (`usage`) */
function parseNumbers(text: string): ReadonlySet<number> {
  const numbers = new Set<number>();
  for (const range of text.split(',')) {
    const [, first = '', last = first] = /^\s*([1-9]\d{0,5})(?:\s*-\s*([1-9]\d{0,5}))?\s*$/.exec(range) ?? [];
    if (first === '' || Number(last) < Number(first))
      throw invalidCallFailure(
        `invalid --only "${text}": expected numbers of lines, such as 12,15-18`,
        'Nothing was sent; correct it.',
      );
    for (let number = Number(first); number <= Number(last); number += 1) numbers.add(number);
  }
  return numbers;
}

/** Checks that --only is for one dub: each has its own lines. @throws Failure (`usage`) */
export function requireOneDub({ redub }: Pick<RunOptions, 'redub'>, dubs: number): void {
  if (redub?.only == null || dubs <= 1) return;
  throw usageFailure(
    'USAGE',
    `--only takes lines of one dub again, and these are ${dubs}`,
    'Nothing was sent; name one input and one language.',
  );
}
