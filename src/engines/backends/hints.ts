/** The words that a recognizer should expect: the terms of a file that an entry of `engines.json` names. */
import { readFile } from 'node:fs/promises';
import { readTable } from '../../base/read-table.ts';
import { describeUnreadable } from '../../base/system-error.ts';
import { type BackendParts, expandHome, unusableEntryFailure } from './parts.ts';

/**
 * Reads the column `term` of a file of `--terms`, without the `*` of endings.
 * @param name of the backend, for messages
 * @throws JobFailure if it has none
 */
export async function readHints(
  name: string,
  { terms: path }: { readonly terms?: string | undefined },
  env: BackendParts['env'],
): Promise<readonly string[]> {
  if (path === undefined) return [];
  const fail = (why: string) => unusableEntryFailure(`${name}: "terms" in engines.json ${why} (${path})`);
  const bytes = await readFile(expandHome(path, env)).catch((error: unknown) => {
    throw fail(describeUnreadable(error) ?? 'cannot be read');
  });
  const table = await readTable(bytes);
  if (typeof table === 'string') throw fail(table);
  const column = table.titles.find((title) => title.toLowerCase() === 'term');
  if (column === undefined) throw fail('has no column "term"');
  return table.rows.flatMap(
    (row) =>
      String(row[column] ?? '')
        .replace(/\*$/, '')
        .trim() || [],
  );
}
