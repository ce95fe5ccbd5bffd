import { dirname, join, resolve } from 'node:path';
import {
  choiceOption,
  flagOption,
  type OptionTable,
  type OptionValues,
  textOption,
} from '../../base/option.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { inFolderOf } from '../../base/system-error.ts';
import { type BatchFacts, type ReportHead, reportDocument } from '../../batch/report/batch-facts.ts';
import { tabulateCosts } from '../../batch/report/cost-table.ts';
import type { ItemReport } from '../../batch/report/item-report.ts';
import type { OwnedText } from '../../batch/report/page-attention.ts';
import { pathFrom } from '../../batch/report/page-build.ts';
import { listSuites } from '../../batch/report/test-suites.ts';
import { writeMarkdown } from '../../batch/report/text-reports.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { showPath } from '../context/format.ts';
import { writeJunit } from '../context/output/junit.ts';
import { printList } from '../context/records.ts';
import { presentAttention, readAttention } from './attention.ts';
import { BATCH_OPERAND, type BatchFolders, commandAfterEdit, readBatchFolders } from './batch-folders.ts';
import { listNotices, refuseBatchFile, writeBatchPage } from './batch-page.ts';
import { COST_FIELDS, COSTS } from './costs.ts';
import { BATCH_REPORT } from './items.ts';

const WRITERS = {
  markdown: writeMarkdown,
  json: (facts: BatchFacts, head: ReportHead) => `${JSON.stringify(reportDocument(facts, head), null, 2)}\n`,
  junit: (...facts: Parameters<typeof listSuites>) => writeJunit(listSuites(...facts)),
} as const;

const OPTIONS = {
  format: choiceOption(
    ['markdown', 'json', 'junit'],
    'format of the report (default: markdown; json with --output json)',
  ),
  html: flagOption(
    'write one HTML page for review: players, subtitles, waveforms (default: report.html in the folder, or in the current one for several)',
  ),
  attention: flagOption(
    'list only what a person should look at, the cues with the most reasons first; with --format junit, these items fail',
  ),
  costs: flagOption(
    'list what the jobs have cost, by month, folder and language; --output csv for a spreadsheet',
  ),
  listen: flagOption('with --attention: recognize each dub, paid by the minute, and compare its words', {
    tool: 'no',
  }),
  back: flagOption('with --attention: translate each translation back, paid by the line, and compare', {
    tool: 'no',
  }),
  dryRun: flagOption('with --listen and --back: print their jobs and costs; send nothing', { tool: 'no' }),
  out: textOption('file', 'write to this file, replacing it (default: stdout)', { tool: 'writes' }),
} as const satisfies OptionTable;

const ANOTHER_PLACE = 'Choose another place with --out, or leave it out for stdout.';

type ReportOptions = OptionValues<typeof OPTIONS>;

export const batchReport: Command = defineCommand({
  operands: BATCH_OPERAND,
  options: OPTIONS,
  examples: [
    { command: 'vloc batch report out --out report.md', explains: 'for a ticket' },
    {
      command: 'vloc batch report out --format junit --out report.xml',
      explains: 'for a CI system: each item is a test case',
    },
    {
      command: 'vloc batch report out --html',
      explains: 'to review results in a browser, without a network',
    },
    {
      command: 'vloc batch report out --attention',
      explains: 'cues to check: cut off, fast, with a lost number or name, or not translated',
    },
    {
      command: 'vloc batch report out --attention --back --dry-run',
      explains: 'what a translation back of all translations would cost',
    },
    {
      command: 'vloc batch report out --costs --output csv > costs.csv',
      explains: 'what the jobs of all runs have cost, for a spreadsheet',
    },
    {
      command: 'vloc batch report out-1 out-2 out-3 --out report.md',
      explains: 'one report on the shards of several machines',
    },
  ],
  notes: [
    'Reasons of --attention: CUT or FAST speech, speech far from its cue (SHIFT), text that takes longer than its time (SPEECH), MISSING or EQUAL translation, NUMBER, ADDRESS, NAME or term (TERM_LOST) that is not in it, ' +
      'unusual LENGTH, and another ENGINE than the preferred one; with --listen HEARD, with --back BACK.',
    '--listen and --back are paid once for each dub and text: a repeated command continues, and pays only for what has changed.',
    'The page of --html links to files in the folder; move them together.',
    'The exit code is 0 for any state of the batch; that of `vloc batch status` reports the state.',
  ],
  fields: () => COST_FIELDS,
  prints: BATCH_REPORT,
  run: async (context, operands, options) => {
    checkOptions(options);
    if (!options.costs && context.fields !== null)
      throw invalidCallFailure('--fields needs --costs', 'Add it, or use --jq.');
    const batch = await readBatchFolders(context, operands);
    if (options.costs) {
      await printCosts(batch, context);
    } else if (options.dryRun) {
      const { planOpinions } = await import('./second-opinions.ts');
      await planOpinions(batch, options, context);
    } else if (options.attention && options.format !== 'junit') {
      const places = await findPlaces(batch, options, context);
      await context.present.show(presentAttention(places, batch, context));
    } else if (options.html) {
      await writeHtml(batch, options.out, context);
    } else {
      await writeText(batch, options, context);
    }
    return 0;
  },
});

/** @throws Failure (`usage`) for options that contradict each other */
function checkOptions({ format, html, attention, costs, listen, back, dryRun, out }: ReportOptions): void {
  if (costs && (html || attention || format !== undefined || out !== undefined))
    throw invalidCallFailure(
      '--costs prints a list of its own',
      'Use it alone, with --output for its format.',
    );
  const isPaid = listen || back;
  if (isPaid && !attention)
    throw invalidCallFailure('--listen and --back need --attention', 'Add it, or leave them out.');
  if (dryRun && !isPaid) throw invalidCallFailure('--dry-run needs --listen or --back', 'Leave it out.');
  const isList = attention && !dryRun && format !== 'junit';
  if (isList && (html || format !== undefined || out !== undefined))
    throw invalidCallFailure(
      '--attention prints its own list',
      'Leave out --html, whose page has the list too, --format except junit, and --out.',
    );
  if (html && format !== undefined)
    throw invalidCallFailure('--html and --format cannot be combined', 'Run the command once for each.');
}

/** A job counts in the folder that sent it. */
async function printCosts({ batches }: BatchFolders, context: Context): Promise<void> {
  const { cwd } = context.io;
  const data = batches.flatMap(({ folder, records }) =>
    tabulateCosts(records.attempts.byKey.values()).map((row) =>
      batches.length === 1 ? row : { ...row, folder: join(showPath(folder, cwd), row.folder ?? '') },
    ),
  );
  await printList(context, COSTS, { data });
}

/** The places of --attention, with the paid opinions that were asked for. */
async function findPlaces(batch: BatchFolders, options: ReportOptions, context: Context) {
  if (!options.listen && !options.back) return readAttention(batch, context);
  const { askForOpinions } = await import('./second-opinions.ts');
  return readAttention(batch, context, await askForOpinions(batch, options, context));
}

async function writeHtml(batch: BatchFolders, out: string | undefined, context: Context): Promise<void> {
  const [folder = '', ...others] = batch.batches.map((each) => each.folder);
  const page = resolve(context.io.cwd, out ?? join(others.length === 0 ? folder : '', 'report.html'));
  await refuseBatchFile(page, batch, ANOTHER_PLACE);
  const commands = {
    afterEdit: (text: OwnedText) => commandAfterEdit(text, batch, context),
    runIn: context.io.cwd,
  };
  const text = await writeBatchPage(batch, { pathOf: pathFrom(dirname(page)), commands }, context);
  await writeReport(page, text, context);
}

async function writeText(batch: BatchFolders, options: ReportOptions, context: Context): Promise<void> {
  const { io, present } = context;
  const { facts } = batch;
  const folders = batch.batches.map(({ folder }) => folder);
  const attributions = await listNotices(facts.items, context);
  const format = options.format ?? (present.text === 'json' ? 'json' : 'markdown');
  const head = { folders, madeAt: new Date(io.now()).toISOString(), attributions };
  const places = options.attention ? await findPlaces(batch, options, context) : [];
  const attentionOf = ({ key, folder = folders[0] }: ItemReport) =>
    places.filter(({ owner }) => owner.key === key && owner.folder === folder);
  const text = WRITERS[format](facts, head, attentionOf);
  if (options.out === undefined) {
    if (format === 'json') return present.show({ document: () => JSON.parse(text) });
    return context.print(text.trimEnd());
  }
  const path = resolve(io.cwd, options.out);
  await refuseBatchFile(path, batch, ANOTHER_PLACE);
  await writeReport(path, text, context);
}

async function writeReport(path: string, text: string, { io, terminal }: Context): Promise<void> {
  await inFolderOf('--out', () => replaceFile(path, text));
  terminal.note(`Written to ${showPath(path, io.cwd)}.`);
}
