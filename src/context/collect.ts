import { Failure } from '../errors/failure.ts';
import type { Context } from './context.ts';

export interface Collected<Row> {
  readonly found: readonly Row[];
  /** One for each id, in order; `failure` null where there was none. */
  readonly outcomes: readonly { readonly label: string; readonly failure: Failure | null }[];
}

/** Reads one record for each id; failures are reported at the end. Only an interruption and defects are thrown. */
export async function collect<Row>(
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
