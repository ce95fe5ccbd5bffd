import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import * as v from 'valibot';
import { flagOption, textOption } from '../../base/option.ts';
import { describeBilingual } from '../../batch/inputs/bilingual-name.ts';
import { examineSubtitle } from '../../media/subtitles/check.ts';
import { fixSubtitle } from '../../media/subtitles/fix.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { showPath } from '../context/format.ts';
import { nothing } from '../context/output/presentation.ts';
import { describeList, NullableText } from '../context/output-schemas.ts';
import { printList, type RecordForm } from '../context/records.ts';
import {
  countNoun,
  describeFinding,
  exitCodeFor,
  FINDING,
  type FindingRow,
  openStandard,
  readSubtitles,
  SUBTITLE_OPERANDS,
  SUBTITLE_OPTIONS,
  type SubtitleFile,
  toRow,
} from './subtitles.ts';
import { checkTargets, writeTarget } from './write-files.ts';

/** A file that was fixed. */
interface FixedRow {
  readonly file: string;
  /** Path; null if there was nothing to write. */
  readonly written: string | null;
  readonly changed_cues: number;
  readonly fixed: number;
  /** Findings that could not be fixed, with the rows of the written file. */
  readonly left: readonly FindingRow[];
}

const FIXED: RecordForm<FixedRow> = {
  plural: 'files',
  idOf: ({ file }) => file,
  columns: (['file', 'written', 'changed_cues', 'fixed'] as const).map((field) => ({ head: field, field })),
};

const FIXED_SUBTITLES = describeList(
  v.object({
    file: v.string(),
    written: NullableText,
    changed_cues: v.number(),
    fixed: v.number(),
    left: v.array(FINDING),
  }),
);

export const subtitlesFix: Command = defineCommand({
  operands: SUBTITLE_OPERANDS,
  options: {
    ...SUBTITLE_OPTIONS,
    inPlace: flagOption('replace the files'),
    out: textOption('folder', 'write the fixed files into this folder'),
  },
  examples: [
    { command: 'vloc subtitles fix talk.es.srt --out fixed', explains: 'lists what only a person can fix' },
    { command: 'vloc subtitles fix subtitles --in-place --style bbc', explains: 'all files of a folder' },
    {
      command: 'vloc subtitles fix talk.es.srt --in-place --video talk.mp4',
      explains: 'also moves times to the shot changes of the video',
    },
  ],
  notes: [
    'Changes only times and line breaks: words, tags, styles, settings and the order of cues stay. No rule is broken more than before.',
  ],
  fields: () => ['file', 'written', 'changed_cues', 'fixed', 'left'],
  prints: FIXED_SUBTITLES,
  run: async (context, operands, options) => {
    const { inPlace, out, strict } = options;
    if (inPlace === (out !== undefined))
      throw invalidCallFailure(
        inPlace ? '--in-place and --out cannot be combined' : 'where to write is missing',
        'Replace the files with --in-place, or write them elsewhere with --out folder.',
      );
    const { io, present, terminal } = context;
    const [read, standardOf] = await Promise.all([
      readSubtitles(operands, options, context),
      openStandard(options, context),
    ]);
    // Its rows must not move from one language to the other.
    const files = read.filter(({ path }) => describeBilingual(path) === null);
    for (const { path, label } of read.filter((file) => !files.includes(file)))
      terminal.warn(`Skipped: ${label} ${describeBilingual(path)}.`);
    const targets = await chooseTargets(files, out === undefined ? null : resolve(io.cwd, out));
    const rows: FixedRow[] = [];
    for (const [at, file] of files.entries()) {
      context.signal.throwIfAborted();
      const standard = standardOf(file);
      const fixed = fixSubtitle(file.bytes, file.path, standard);
      const before = examineSubtitle(file.bytes, file.path, standard).findings;
      const after = examineSubtitle(fixed.bytes, file.path, standard).findings;
      const target = targets[at] ?? file.path;
      const isWritten = !inPlace || fixed.changedCues > 0;
      if (isWritten) await writeTarget(target, fixed.bytes, inPlace, 'Remove it, or choose another --out.');
      const written = isWritten ? showPath(target, io.cwd) : null;
      const left = after.map((finding) => toRow(written ?? file.label, finding));
      const counts = { changed_cues: fixed.changedCues, fixed: before.length - after.length };
      rows.push({ file: file.label, written, ...counts, left });
      await present.show({ pages: () => left.map(describeFinding) });
    }
    await printList(context, FIXED, { data: rows }, { pages: nothing });
    for (const row of rows) terminal.note(describeFixed(row));
    return exitCodeFor(
      rows.flatMap(({ left }) => left),
      strict,
    );
  },
});

function describeFixed({ file, written, changed_cues: cues, fixed, left }: FixedRow): string {
  const where = written === null || written === file ? '' : `, written to ${written}`;
  return `${file}: ${countNoun(cues, 'cue')} changed, ${countNoun(fixed, 'problem')} fixed, ${left.length} left${where}.`;
}

/** Where each file is written. @throws Failure (`usage`) if two would have the same name */
async function chooseTargets(files: readonly SubtitleFile[], out: string | null): Promise<readonly string[]> {
  // A link stays a link to the fixed file.
  if (out === null) return Promise.all(files.map(({ path }) => realpath(path)));
  const targets = files.map(({ name }) => resolve(out, name));
  await checkTargets(files, targets, '--in-place');
  return targets;
}
