import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { diskFailure, usageFailure } from '../../base/failure.ts';
import { createInputs } from '../../base/find-input.ts';
import { makeFolder } from '../../base/folder.ts';
import { choiceOption, flagOption, textOption } from '../../base/option.ts';
import { describeDisk, errorCode } from '../../base/system-error.ts';
import { namedPaths } from '../../batch/plan/candidate.ts';
import { recordsPath } from '../../batch/record-folder.ts';
import { type BatchFacts, type ReportHead, reportDocument } from '../../batch/report/batch-facts.ts';
import { writeJunit } from '../../batch/report/junit.ts';
import { writeMarkdown } from '../../batch/report/markdown.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { showPath } from '../context/format.ts';
import { htmlReport } from './html-report.ts';
import { BATCH_OPERAND, type OpenBatch, type OpenBatches, openBatches } from './open-batch.ts';

const WRITERS = {
  markdown: writeMarkdown,
  json: (facts: BatchFacts, head: ReportHead) => `${JSON.stringify(reportDocument(facts, head), null, 2)}\n`,
  junit: writeJunit,
} as const;

export const batchReport: Command = defineCommand({
  operands: BATCH_OPERAND,
  options: {
    format: choiceOption(
      ['markdown', 'json', 'junit'],
      'format of the report (default: markdown; json with --output json)',
    ),
    html: flagOption(
      'write one HTML page for review: players, subtitles, waveforms (default: report.html in the folder, or in the current one for several)',
    ),
    out: textOption('file', 'write to this file, replacing it (default: stdout)', { tool: 'writes' }),
  },
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
      command: 'vloc batch report out-1 out-2 out-3 --out report.md',
      explains: 'one report on the shards of several machines',
    },
  ],
  notes: [
    'The page of --html links to files in the folder; move them together.',
    'The exit code is 0 for any state of the batch; that of `vloc batch status` reports the state.',
  ],
  schemas: async () => (await import('./outputs.ts')).BATCH_REPORT,
  run: async (context, operands, options) => {
    const batch = await openBatches(context, operands);
    const { facts } = batch;
    const folders = batch.batches.map(({ folder }) => folder);
    const [folder = '', ...others] = folders;
    const { io, output } = context;
    if (options.html) {
      if (options.format !== undefined)
        throw invalidCallFailure('--html and --format cannot be combined', 'Run the command once for each.');
      const page = resolve(io.cwd, options.out ?? join(others.length === 0 ? folder : '', 'report.html'));
      await refuseFilesOf(batch, page);
      await replaceFile(page, await htmlReport(batch, page, context), batch);
      context.terminal.note(`Written to ${showPath(page, io.cwd)}.`);
      return 0;
    }
    const isJson = output === 'json' || output === 'ndjson';
    const format = options.format ?? (isJson ? 'json' : 'markdown');
    const text = WRITERS[format](facts, { folders, madeAt: new Date(io.now()).toISOString() });
    if (options.out === undefined) {
      // Each line of ndjson is a document of its own.
      const isLine = output === 'ndjson' && format === 'json';
      context.print(isLine ? JSON.stringify(JSON.parse(text)) : text.trimEnd());
      return 0;
    }
    const path = resolve(io.cwd, options.out);
    await replaceFile(path, text, batch);
    context.terminal.note(`Written to ${showPath(path, io.cwd)}.`);
    return 0;
  },
});

/**
 * Replaces the file atomically: readers see the old report or the new one.
 * @throws Failure: `usage` for a file of the batch, which is not changed; `disk`
 */
async function replaceFile(path: string, text: string, batch: OpenBatches): Promise<void> {
  await refuseFilesOf(batch, path);
  const folder = dirname(path);
  const draft = join(folder, `.vloc-report-${randomUUID()}.part`);
  try {
    await makeFolder(folder);
    await writeFile(draft, text, { flag: 'wx' });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    const { reason } = describeDisk(errorCode(error), path);
    const message = `cannot write the report to ${path}: ${reason}`;
    const advice = 'Choose another place with --out, or leave it out for stdout.';
    throw diskFailure('DISK_ERROR', message, advice, {}, { cause: error });
  }
}

async function refuseFilesOf({ batches }: OpenBatches, path: string): Promise<void> {
  for (const batch of batches) await refuseFileOf(batch, path);
}

/** @throws Failure (`usage`) when the path leads to an input, a result or the journal of the batch */
async function refuseFileOf({ folder, journals, facts, records }: OpenBatch, path: string): Promise<void> {
  const { subtitles, finished } = records.stages;
  const inputs = [...records.facts.values()].flatMap((item) => item.path ?? []);
  const named = facts.commands.flatMap(({ cwd, operands, options }) => namedPaths(cwd, operands, options));
  const staged = [...subtitles.keys(), ...[...finished.values()].map(({ newest }) => newest.path)];
  const results = [
    ...facts.items.flatMap(({ files }) => files.map((file) => file.path)),
    ...staged.map((each) => resolve(folder, each)),
  ];
  const kinds = [
    { code: 'TARGET_IS_INPUT', what: 'an input', paths: [...inputs, ...named] },
    { code: 'TARGET_EXISTS', what: 'a result', paths: results },
    { code: 'TARGET_EXISTS', what: 'the journal', paths: journals.map(({ place }) => recordsPath(place)) },
  ];
  for (const { code, what, paths } of kinds) {
    if ((await createInputs(paths).find(path)) === null) continue;
    const message = `${path} is ${what} of this batch, so it was not changed`;
    const advice = 'Choose another place with --out, or leave it out for stdout.';
    throw usageFailure(code, message, advice);
  }
}
