/** The output forms by their names. */
import type { Context } from '../context.ts';
import { csv } from './csv.ts';
import { id } from './id.ts';
import { json } from './json.ts';
import { ndjson } from './ndjson.ts';
import { plain } from './plain.ts';
import type { OutputForm, Presenter, Table } from './presentation.ts';
import { table } from './table.ts';

export const FORMS = { table, json, ndjson, csv, plain, id } satisfies Record<string, OutputForm>;

export type OutputMode = keyof typeof FORMS;

export const OUTPUT_MODES = Object.keys(FORMS) as readonly OutputMode[]; // of a constant

/** The output of a context. @param print gets its lines and tables */
export function outputTo(
  output: OutputMode,
  print: Context['print'],
  terminal: Context['terminal'],
): Pick<Context, 'output' | 'print' | 'present'> {
  const {
    part,
    text,
    write,
    layOut = (piece) => layOutForPeople(piece, terminal),
  }: OutputForm = FORMS[output];
  const show: Presenter['show'] = async (shown) => {
    for (const piece of write(shown)) print(typeof piece === 'string' ? piece : await layOut(piece));
    if (part === 'pages') for (const note of shown.notes?.() ?? []) terminal.note(note);
  };
  const event: Presenter['event'] = (each) => void show({ events: () => [each] });
  return { output, print, present: { part, text, show, event } };
}

async function layOutForPeople(
  { head, rows, isNext = false }: Table,
  terminal: Pick<Context['terminal'], 'table'>,
): Promise<string> {
  const laidOut = await terminal.table(head, rows);
  const [, row = '', ...more] = laidOut.split('\n');
  // On a narrow terminal it is a list, which has no head.
  return isNext && more.length === 0 ? row : laidOut;
}
