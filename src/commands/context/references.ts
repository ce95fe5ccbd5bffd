/** The operands of commands that take ids, and the records that these name. */
import { text } from 'node:stream/consumers';
import { Failure, usageFailure } from '../../base/failure.ts';
import type { Operands } from './command.ts';
import type { Context, Io } from './context.ts';

/** The operands of commands that take jobs. */
export const JOB_OPERANDS = {
  name: 'id',
  count: 'many',
  help: 'job ids, also as kind/id or detail_url, or - for stdin',
} as const satisfies Operands;

interface References {
  readonly ids: readonly string[];
  /** True for a single id that was named: it is printed as a record, not as a list. */
  readonly single: boolean;
}

/**
 * Returns the operands, with `-` replaced by the first word of each line of stdin,
 * so that the plain form of a list can be piped in. Removes duplicates. Empty stdin is not a failure.
 * @param given an operand may have several ids: shells do not split `"$id"`
 */
export async function readReferences(given: readonly string[], io: Pick<Io, 'stdin'>): Promise<References> {
  const operands = given.flatMap((operand) => operand.trim().split(/\s+/));
  const [only] = operands;
  if (operands.length === 1 && only !== undefined && only !== '-') return { ids: [only], single: true };
  const fromStdin = operands.includes('-') ? await readIds(io) : [];
  const ids = operands.flatMap((operand) => (operand === '-' ? fromStdin : [operand]));
  return { ids: [...new Set(ids)], single: false };
}

async function readIds({ stdin }: Pick<Io, 'stdin'>): Promise<readonly string[]> {
  if (stdin.isTTY === true) {
    throw usageFailure(
      'STDIN_IS_TERMINAL',
      '- reads ids from stdin, but stdin is a terminal',
      'Pipe them in; `vloc jobs list --output id` prints them.',
    );
  }
  const lines = (await text(stdin)).split(/\r?\n/);
  return lines.map((line) => line.trim().split(/\s/)[0] ?? '').filter((id) => id !== '');
}

export interface Collected<Row> {
  readonly found: readonly Row[];
  /** One for each id, in order; `failure` null where there was none. */
  readonly outcomes: readonly { readonly label: string; readonly failure: Failure | null }[];
}

/** Reads one record for each id and collects failures. Throws only interruptions and unexpected errors. */
export async function collectRows<Row>(
  context: Pick<Context, 'signal'>,
  ids: readonly string[],
  read: (id: string) => Promise<Row>,
): Promise<Collected<Row>> {
  const found: Row[] = [];
  const outcomes: { label: string; failure: Failure | null }[] = [];
  for (const id of ids) {
    try {
      found.push(await read(id));
      outcomes.push({ label: id, failure: null });
    } catch (error) {
      if (context.signal.aborted) throw context.signal.reason;
      if (!(error instanceof Failure)) throw error;
      outcomes.push({ label: id, failure: error });
    }
  }
  return { found, outcomes };
}
