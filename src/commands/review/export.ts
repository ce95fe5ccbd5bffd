import { stat } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import * as v from 'valibot';
import { usageFailure } from '../../base/failure.ts';
import { flagOption, listOption, textOption } from '../../base/option.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { findAttention } from '../../batch/report/attention.ts';
import { type ScannedCue, textInside } from '../../media/subtitles/read-subtitle.ts';
import { canonicalLanguage, isKnownLanguage } from '../../protocol/language-tag.ts';
import { pairCues } from '../../protocol/pair-cues.ts';
import { createSpeechJudge, readAttention } from '../batch/attention.ts';
import type { BatchFolder } from '../batch/batch-folders.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { describeRecord } from '../context/output-schemas.ts';
import { printRecord, type RecordForm } from '../context/records.ts';
import { countNoun, readSubtitles, SUBTITLE_OPERANDS } from '../subtitles/subtitles.ts';
import { findBatches, findSources } from './batches.ts';
import { groupTexts, type ReviewText, type TextGroup } from './find-texts.ts';
import { digestText, type ReviewRow, SOURCE, type TextPlace, writeRows } from './review-table.ts';

interface Exported {
  readonly file: string;
  readonly texts: number;
  readonly rows: number;
  /** Rows with reasons. */
  readonly attention: number;
}

const EXPORTED: RecordForm<Exported> = {
  plural: 'tables',
  idOf: ({ file }) => file,
  columns: (['file', 'texts', 'rows', 'attention'] as const).map((field) => ({ head: field, field })),
};

export const subtitlesExport: Command = defineCommand({
  operands: SUBTITLE_OPERANDS,
  options: {
    to: listOption('tags', 'languages of the translations: a column for each'),
    from: textOption('tag', 'language of the source, if there are several (default: the other one)'),
    out: textOption('file', 'write this table: .csv or .xlsx'),
    clobber: flagOption('replace the table if it exists'),
  },
  examples: [
    {
      command: 'vloc subtitles export lessons --to es,fr --out review.csv',
      explains: 'one table for the translations of a folder',
    },
    {
      command: 'vloc subtitles export lessons --to es --out review.xlsx',
      explains: 'as a workbook, in which texts never become numbers or dates',
    },
  ],
  notes: [
    'Reasons are those of `vloc batch report --attention`: from the texts, and from the records of this machine.',
    'Edit the columns of the languages, and write them back with `vloc subtitles import`.',
  ],
  fields: () => ['file', 'texts', 'rows', 'attention'],
  prints: describeRecord(
    v.object({ file: v.string(), texts: v.number(), rows: v.number(), attention: v.number() }),
  ),
  run: async (context, operands, { to, from, out, clobber }) => {
    const languages = [...new Set(to.map((tag) => readTag('--to', tag)))];
    if (languages.length === 0)
      throw invalidCallFailure('--to is missing', 'Name the languages: --to es,fr.');
    if (out === undefined || !['.csv', '.xlsx'].includes(extname(out).toLowerCase()))
      throw invalidCallFailure(
        out === undefined ? '--out is missing' : `invalid --out "${out}": expected .csv or .xlsx`,
        'Name the table: --out review.csv.',
      );
    const path = resolve(context.io.cwd, out);
    if (!clobber && (await stat(path).catch(() => null)) !== null)
      throw usageFailure('TARGET_EXISTS', `${path} exists`, 'Choose another file, or use --clobber.');
    const files = await readSubtitles(operands, { language: undefined }, context);
    const paths = files.map((file) => file.path);
    const batches = await findBatches(paths, context);
    const source = from === undefined ? null : readTag('--from', from);
    const groups = groupTexts(files, languages, source, findSources(batches));
    if (groups.length === 0)
      throw usageFailure(
        'NO_SUBTITLES',
        `no subtitles in ${languages.join(' or ')} in ${operands.join(', ')}`,
        'Translate first; a translation is named by its language, such as talk.es.srt.',
      );
    const reasonsOf = await findReasons(groups, batches, context);
    const rows = groups.flatMap((group) => rowsOf(group, reasonsOf));
    const table = writeRows(rows, languages);
    const isText = (title: string) => [SOURCE, ...languages, 'reasons', 'comment'].includes(title);
    const { writeCsv, writeWorkbook } = await import('./write-table.ts');
    const isWorkbook = extname(out).toLowerCase() === '.xlsx';
    await replaceFile(path, await (isWorkbook ? writeWorkbook(table, isText) : writeCsv(table)));
    const texts = groups.reduce((sum, { targets }) => sum + targets.size, 0);
    const attention = rows.filter(({ reasons }) => reasons.length > 0).length;
    await printRecord(context, EXPORTED, { file: out, texts, rows: rows.length, attention });
    for (const note of describeLack(groups, languages)) context.terminal.note(note);
    return 0;
  },
});

function readTag(option: string, tag: string): string {
  const canonical = canonicalLanguage(tag);
  if (canonical !== null && isKnownLanguage(canonical)) return canonical;
  throw invalidCallFailure(`invalid ${option} "${tag}"`, 'Write a BCP 47 tag, such as es or pt-BR.');
}

/** A language that has no file is an empty column. */
function describeLack(groups: readonly TextGroup[], languages: readonly string[]): readonly string[] {
  return languages.flatMap((language) => {
    const count = groups.filter(({ targets }) => !targets.has(language)).length;
    return count === 0 ? [] : [`${countNoun(count, 'text')} without a translation into ${language}.`];
  });
}

/** A cue in its file. */
interface TextCue {
  readonly text: ReviewText;
  readonly cue: ScannedCue;
}

/** The rows of a source and its translations, in order of time. A cue that no other belongs to has a row of its own. */
function rowsOf({ source, targets }: TextGroup, reasonsOf: ReasonsOf): readonly ReviewRow[] {
  const texts = [...(source === null ? [] : [[SOURCE, source] as const]), ...targets];
  const [[, first] = []] = texts;
  const base = first?.scanned.cues ?? [];
  const paired = texts.map(([role, text]) => {
    const cues = text === first ? base : pairCues(base, text.scanned.cues);
    const known = new Set(cues);
    const single = text.scanned.cues.filter((cue) => !known.has(cue));
    return { role, text, cues, single };
  });
  const rows = [
    ...base.map((_, at) =>
      paired.flatMap(({ role, text, cues }) => {
        const cue = cues[at] ?? null;
        return cue === null ? [] : [[role, { text, cue }] as const];
      }),
    ),
    ...paired.flatMap(({ role, text, single }) => single.map((cue) => [[role, { text, cue }] as const])),
  ];
  const startOf = (row: readonly (readonly [string, TextCue])[]) => row[0]?.[1].cue.start_ms ?? 0;
  return rows
    .toSorted((left, right) => startOf(left) - startOf(right))
    .map((row) => toRow(new Map(row), targets, reasonsOf));
}

function toRow(
  cues: ReadonlyMap<string, TextCue>,
  targets: TextGroup['targets'],
  reasonsOf: ReasonsOf,
): ReviewRow {
  const source = cues.get(SOURCE);
  const reasons = [...targets].flatMap(([language, { path }]) => {
    const cue = cues.get(language)?.cue;
    const own = reasonsOf(path, cue?.number ?? null, source?.cue.start_ms ?? null);
    return own.map((reason) => (targets.size > 1 ? `${language}: ${reason}` : reason));
  });
  const wordsOf = ({ text, cue }: TextCue) => textInside(cue, text.scanned.format);
  const speaker = [...cues.values()].flatMap(({ cue }) => cue.speaker ?? [])[0] ?? '';
  return {
    places: new Map([...cues].map(([role, each]) => [role, placeOf(each, wordsOf(each))])),
    texts: new Map([...cues].map(([role, each]) => [role, wordsOf(each)])),
    speaker,
    reasons,
  };
}

function placeOf({ text, cue: { number, start_ms, end_ms } }: TextCue, words: string): TextPlace {
  return { file: text.label, cue: number, start_ms, end_ms, text: digestText(words) };
}

/** Reasons for a cue of a translation; for one that is missing by the start of its source. */
type ReasonsOf = (file: string, cue: number | null, sourceStartMs: number | null) => readonly string[];

/** Finds reasons in the texts, and in the records of the batches that made them. */
async function findReasons(
  groups: readonly TextGroup[],
  batches: readonly BatchFolder[],
  context: Context,
): Promise<ReasonsOf> {
  const judge = createSpeechJudge(context);
  const places = [...(await readAttention({ batches }, context))];
  for (const { source, targets } of groups) {
    for (const [language, { path, scanned }] of targets) {
      const found = findAttention({
        file: path,
        cues: scanned.cues,
        source: source?.scanned.cues ?? null,
        sourceLanguage: source?.language ?? null,
        provenance: null,
        speech: await judge(scanned.cues, language, undefined),
      });
      const facts = { item: path, language, owner: { key: '', folder: '' } };
      places.push(...found.map((place) => ({ ...facts, ...place })));
    }
  }
  const keyOf = (file: string | null, cue: number | null, startMs: number | null) =>
    JSON.stringify([file, cue, cue === null ? startMs : null]);
  const byCue = Map.groupBy(places, ({ file, cue, start_ms }) => keyOf(file, cue, start_ms));
  return (file, cue, startMs) => {
    const found = byCue.get(keyOf(file, cue, startMs)) ?? [];
    const reasons = found.flatMap((place) => place.reasons.map(({ code, detail }) => `${code}: ${detail}`));
    return [...new Set(reasons)];
  };
}
