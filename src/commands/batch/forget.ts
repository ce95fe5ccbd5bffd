import { basename, dirname, resolve } from 'node:path';
import { type Failure, usageFailure } from '../../base/failure.ts';
import { flagOption, numberOption } from '../../base/option.ts';
import { isNonFileInput } from '../../batch/inputs/candidate.ts';
import { pathExists } from '../../batch/inputs/file-status.ts';
import type { BatchCommand } from '../../batch/records/command-record.ts';
import { nameOfKey, readItemKeys, readPartKey, wholeName } from '../../batch/records/item-key.ts';
import type { ItemReport } from '../../batch/report/item-report.ts';
import { openJournalToForget } from '../../batch/run/journal.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { printList } from '../context/records.ts';
import { type BatchFolder, readBatchFolders } from './batch-folders.ts';
import { BATCH_FORGET, ITEM_FIELDS, ITEMS } from './items.ts';

type Journal = BatchFolder['journals'][number];

/** The service has a job of these items, or may have one. */
const OPEN = ['running', 'unanswered', 'undelivered'];

export const batchForget: Command = defineCommand({
  operands: {
    name: 'dir-and-inputs',
    count: 'many',
    parts: {
      '<dir>': 'folder of results, as given to --out',
      '[input...]': 'inputs to forget, as `vloc batch status DIR --all` names them; with all their languages',
    },
  },
  options: {
    gone: flagOption('forget all items that are not done and whose input file no longer exists'),
    shards: numberOption('n', 'forget all items of runs with --shard i/n; 0: of runs without --shard', {
      whole: true,
      from: 0,
    }),
    yes: flagOption('also forget items with a job that is not finished or not downloaded', { short: '-y' }),
  },
  fields: () => ITEM_FIELDS,
  examples: [
    { command: 'vloc batch forget out --gone', explains: 'what failed or never ran, and was deleted since' },
    { command: 'vloc batch forget out week1/talk.mp4', explains: 'one input, with all its languages' },
    {
      command: 'vloc batch forget out --shards 3',
      explains: 'all items of runs with --shard i/3, in a folder that also has others',
    },
  ],
  notes: [
    'Status and reports then no longer list the items, nor their cost. Results are not deleted, and jobs are not cancelled. ' +
      'An input that is run again later gets a new job, which is charged.',
  ],
  prints: BATCH_FORGET,
  run: async (context, [folder = '', ...inputs], { gone, shards, yes }) => {
    const ways = [gone, shards !== undefined, inputs.length > 0].filter(Boolean).length;
    if (ways !== 1)
      throw invalidCallFailure(
        ways === 0 ? 'no input to forget' : 'inputs, --gone and --shards cannot be combined',
        'Name inputs after the folder, or use --gone for those that no longer exist, or --shards.',
      );
    const { batches, facts } = await readBatchFolders(context, [folder]);
    const [batch] = batches;
    if (batch === undefined) throw new TypeError('a folder was named');
    const { cwd } = context.io;
    const journals = batch.journals.filter(
      ({ place }) => shards === undefined || (place.shard?.count ?? 0) === shards,
    );
    const chosen = gone
      ? await findGone(batch)
      : shards === undefined
        ? facts.items.filter((item) => inputs.some((input) => namesItem(batch, item, input, cwd)))
        : itemsOf(journals, facts.items);
    for (const input of inputs) {
      if (!chosen.some((item) => namesItem(batch, item, input, cwd)))
        throw unknownInputFailure(input, folder);
    }
    const open = yes ? [] : chosen.filter(({ state }) => OPEN.includes(state));
    if (open.length > 0 && !gone) throw openJobsFailure(open);
    for (const { label, state } of open)
      context.terminal.warn(`${label}: kept, since its job is ${state}; --yes forgets it too.`);
    const forgotten = chosen.filter((item) => !open.includes(item));
    await recordForgotten(journals, forgotten, context.io.now());
    await printList(context, ITEMS, { data: forgotten });
    const what = forgotten.length === 1 ? '1 item' : `${forgotten.length} items`;
    context.terminal.note(forgotten.length === 0 ? `Nothing to forget in ${folder}.` : `Forgot ${what}.`);
    return 0;
  },
});

/** Keys of whole items that a journal knows. */
function readKeys({ content }: Journal): ReadonlySet<string> {
  return new Set([...readItemKeys(content)].map((key) => readPartKey(key)?.item ?? key));
}

function itemsOf(journals: readonly Journal[], items: readonly ItemReport[]): readonly ItemReport[] {
  const keys = new Set(journals.flatMap((journal) => [...readKeys(journal)]));
  return items.filter(({ key }) => keys.has(key));
}

/** Records in each journal that knows some of the items that they are forgotten, with the parts of long videos. */
async function recordForgotten(journals: readonly Journal[], items: readonly ItemReport[], now: number) {
  const at = new Date(now).toISOString();
  const chosen = new Set(items.map(({ key }) => key));
  for (const { place, content } of journals) {
    const own = [...readItemKeys(content)].filter((key) => chosen.has(readPartKey(key)?.item ?? key));
    if (own.length === 0) continue;
    const journal = await openJournalToForget(place);
    const forgotten = own.map((item) => ({ type: 'item_forgotten', at, item }) as const);
    await journal.add(...forgotten).finally(() => journal.close());
  }
}

function unknownInputFailure(input: string, folder: string): Failure {
  return usageFailure(
    'UNKNOWN_INPUT',
    `${folder} has no item of ${input}; nothing was forgotten`,
    'Name inputs as `vloc batch status DIR --all` lists them.',
  );
}

function openJobsFailure(open: readonly ItemReport[]): Failure {
  return usageFailure(
    'JOBS_OPEN',
    `${open.length === 1 ? '1 item has a job that is' : `${open.length} items have jobs that are`} not finished or not downloaded; nothing was forgotten`,
    'Cancel the jobs or download their results first (`vloc jobs`), or forget them with --yes; they are charged anyway.',
    {
      errors: open.map(({ label, state, job_id }) => ({
        pointer: label,
        detail: `${state} ${job_id ?? ''}`.trim(),
      })),
    },
  );
}

/** Whether the user means this item: by its path, its name below the folder of inputs, or its label in tables. */
export function namesItem(
  batch: BatchFolder,
  { key, label }: ItemReport,
  input: string,
  cwd: string,
): boolean {
  const path = batch.records.facts.get(key)?.path ?? null;
  const names = [nameOfKey(key), label, label.replace(/ → [^→]*$/, '')];
  return names.includes(input) || path === resolve(cwd, input);
}

/** Items that are not done and whose input file no longer exists. An input whose place is unknown counts as existing. */
export async function findGone({ records, facts }: BatchFolder): Promise<readonly ItemReport[]> {
  const known = records.facts;
  const gone: ItemReport[] = [];
  for (const item of facts.items) {
    if (item.state === 'done') continue;
    const own = known.get(item.key);
    const places =
      own === undefined ? possiblePlaces(item, facts.commands) : own.path === null ? [] : [own.path];
    const found = await Promise.all(places.map((path) => pathExists(path)));
    if (places.length > 0 && !found.includes(true)) gone.push(item);
  }
  return gone;
}

/** Where the file of an item without facts may be, absolute; empty for an input that is not a file. */
function possiblePlaces({ key, kind }: ItemReport, commands: readonly BatchCommand[]): readonly string[] {
  const name = wholeName(nameOfKey(key) ?? '');
  if (name === '' || name.startsWith('stdin:') || isNonFileInput(name, KINDS[kind].input)) return [];
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
