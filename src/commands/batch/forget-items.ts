/** Items of a folder of results by their input, and whether that input still exists. */
import { basename, dirname, resolve } from 'node:path';
import { exists } from '../../batch/plan/file-status.ts';
import { nameOfKey } from '../../batch/plan/item-key.ts';
import { isNonFileInput } from '../../batch/plan/operand.ts';
import type { BatchCommand } from '../../batch/report/command-record.ts';
import type { ItemReport } from '../../batch/report/item-report.ts';
import { KINDS } from '../../protocol/kinds.ts';
import type { OpenBatch } from './open-batch.ts';

/** Whether the user means this item: by its path, its name below the folder of inputs, or its label in tables. */
export function namesItem(batch: OpenBatch, { key, label }: ItemReport, input: string, cwd: string): boolean {
  const path = batch.records.facts.get(key)?.path ?? null;
  const names = [nameOfKey(key), label, label.replace(/ → [^→]*$/, '')];
  return names.includes(input) || path === resolve(cwd, input);
}

/** Items that are not done and whose input file no longer exists. An input whose place is unknown counts as existing. */
export async function findGone({ records, facts }: OpenBatch): Promise<readonly ItemReport[]> {
  const known = records.facts;
  const gone: ItemReport[] = [];
  for (const item of facts.items) {
    if (item.state === 'done') continue;
    const own = known.get(item.key);
    const places =
      own === undefined ? possiblePlaces(item, facts.commands) : own.path === null ? [] : [own.path];
    const found = await Promise.all(places.map((path) => exists(path)));
    if (places.length > 0 && !found.includes(true)) gone.push(item);
  }
  return gone;
}

/** Where the file of an item without facts may be, absolute; empty for an input that is not a file. */
function possiblePlaces({ key, kind }: ItemReport, commands: readonly BatchCommand[]): readonly string[] {
  const name = nameOfKey(key);
  if (name === null || name.startsWith('stdin:') || isNonFileInput(name, KINDS[kind].input)) return [];
  return commands.flatMap(({ items, cwd, operands, options }) => {
    if (!items.includes(key)) return [];
    const { filesFrom, filesFrom0, sheet } = options;
    const lists = [filesFrom, filesFrom0, sheet].flatMap((list) =>
      typeof list === 'string' ? dirname(list) : [],
    );
    const roots = [...operands.map((operand) => operand.replace(/[^/]*[*?[{].*$/, '')), ...lists, '.'];
    const named = operands.filter((operand) => basename(operand) === name);
    return [
      ...named.map((operand) => resolve(cwd, operand)),
      ...roots.map((root) => resolve(cwd, root, name)),
    ];
  });
}
