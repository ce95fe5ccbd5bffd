import { type Failure, usageFailure } from '../../base/failure.ts';
import { flagOption } from '../../base/option.ts';
import { readPartKey } from '../../batch/plan/item-key.ts';
import type { ItemReport } from '../../batch/report/item-report.ts';
import { openBatchJournal } from '../../batch/run/journal.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { printList } from '../context/records.ts';
import { findGone, namesItem } from './forget-items.ts';
import { ITEM_FIELDS, ITEMS } from './item-records.ts';
import { type OpenBatch, openBatches } from './open-batch.ts';

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
    yes: flagOption('also forget items with a job that is not finished or not downloaded', { short: '-y' }),
  },
  fields: () => ITEM_FIELDS,
  examples: [
    { command: 'vloc batch forget out --gone', explains: 'what failed or never ran, and was deleted since' },
    { command: 'vloc batch forget out week1/talk.mp4', explains: 'one input, with all its languages' },
  ],
  notes: [
    'Status and reports then no longer list the items, nor their cost. Results are not deleted, and jobs are not cancelled. ' +
      'An input that is run again later gets a new job, which is charged.',
  ],
  schemas: async () => (await import('./outputs.ts')).BATCH_FORGET,
  run: async (context, [folder = '', ...inputs], { gone, yes }) => {
    if (gone === inputs.length > 0)
      throw invalidCallFailure(
        gone ? '--gone selects the inputs itself' : 'no input to forget',
        'Name inputs after the folder, or use --gone for those that no longer exist.',
      );
    const { batches, facts } = await openBatches(context, [folder]);
    const [batch] = batches;
    if (batch === undefined) throw new TypeError('a folder was named');
    const { cwd } = context.io;
    const chosen = gone
      ? await findGone(batch)
      : facts.items.filter((item) => inputs.some((input) => namesItem(batch, item, input, cwd)));
    for (const input of inputs) {
      if (!chosen.some((item) => namesItem(batch, item, input, cwd)))
        throw unknownInputFailure(input, folder);
    }
    const open = yes ? [] : chosen.filter(({ state }) => OPEN.includes(state));
    if (open.length > 0 && !gone) throw openJobsFailure(open);
    for (const { label, state } of open)
      context.terminal.warn(`${label}: kept, since its job is ${state}; --yes forgets it too.`);
    const forgotten = chosen.filter((item) => !open.includes(item));
    await recordForgotten(batch, forgotten, context.io.now());
    await printList(context, ITEMS, { data: forgotten, has_more: false, next_cursor: null });
    const what = forgotten.length === 1 ? '1 item' : `${forgotten.length} items`;
    context.terminal.note(forgotten.length === 0 ? `Nothing to forget in ${folder}.` : `Forgot ${what}.`);
    return 0;
  },
});

/** Records in each journal that knows some of the items that they are forgotten, with the parts of long videos. */
async function recordForgotten({ journals }: OpenBatch, items: readonly ItemReport[], now: number) {
  const at = new Date(now).toISOString();
  const chosen = new Set(items.map(({ key }) => key));
  for (const { place, content } of journals) {
    const known = new Set([
      ...content.intents.byItem.keys(),
      ...content.facts.keys(),
      ...content.commands.flatMap((command) => command.items),
    ]);
    const own = [...known].filter((key) => chosen.has(readPartKey(key)?.item ?? key));
    if (own.length === 0) continue;
    const journal = await openBatchJournal(place);
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
