import { resolve } from 'node:path';
import { choiceOption, textOption } from '../../base/option.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { bilingualLanguages } from '../../batch/inputs/bilingual-name.ts';
import type { TestCase } from '../../batch/report/test-suites.ts';
import { examineSubtitle } from '../../media/subtitles/check.ts';
import { scanText } from '../../media/subtitles/read-subtitle.ts';
import { VOICE_MODE } from '../../protocol/fields.ts';
import { nameRow } from '../../protocol/subtitle-line.ts';
import { type Command, defineCommand } from '../context/command.ts';
import { writeJunit } from '../context/output/junit.ts';
import { describeList } from '../context/output-schemas.ts';
import { printList, type RecordForm } from '../context/records.ts';
import { checkSpeech, findRate } from './speech.ts';
import {
  countFindings,
  countNoun,
  describeFinding,
  exitCodeFor,
  FINDING,
  type FindingRow,
  knownLanguage,
  openStandard,
  readSubtitles,
  SUBTITLE_OPERANDS,
  SUBTITLE_OPTIONS,
  type SubtitleFile,
  toRow,
} from './subtitles.ts';

const FINDINGS: RecordForm<FindingRow> = {
  plural: 'problems',
  idOf: ({ file, row }) => nameRow(file, row),
  columns: (['file', 'row', 'time', 'rule', 'message', 'advice'] as const).map((field) => ({
    head: field,
    field,
  })),
};

const SUBTITLE_FINDINGS = describeList(FINDING);

export const subtitlesCheck: Command = defineCommand({
  operands: SUBTITLE_OPERANDS,
  options: {
    ...SUBTITLE_OPTIONS,
    voiceMode: choiceOption(
      VOICE_MODE.choices,
      'voice of the planned dub: SPEECH reports what it cannot say in time (default: auto, once a dub was made)',
    ),
    junit: textOption('file', 'also write a JUnit report for a CI system'),
  },
  examples: [
    { command: 'vloc subtitles check talk.es.srt', explains: 'each problem with file, row, time and rule' },
    {
      command: 'vloc subtitles check subtitles --style bbc --strict --junit report.xml',
      explains: 'a folder in a CI system: warnings fail too',
    },
    {
      command: 'vloc subtitles check talk.es.srt --video talk.mp4 --style house.json',
      explains: 'with the shot changes of the video and a style of your own',
    },
  ],
  notes: [
    'SPEECH goes by the last three dubs of the language and voice that are still where they were written; without them, and with --voice-mode, by a default.',
    'Exit code 2: a file has errors, which stop a dub; with --strict also for warnings.',
    'A style of your own is JSON, such as {"extends": "netflix", "rows": 3}.',
  ],
  fields: () => ['file', 'row', 'cue', 'time', 'rule', 'severity', 'message', 'advice'],
  prints: SUBTITLE_FINDINGS,
  run: async (context, operands, options) => {
    const { terminal } = context;
    const [files, standardOf] = await Promise.all([
      readSubtitles(operands, options, context),
      openStandard(options, context),
    ]);
    const rates = new Map<string, ReturnType<typeof findRate>>();
    const checkDub = async ({ language, bytes, path }: SubtitleFile) => {
      if (language === null) return [];
      const found = rates.get(language) ?? findRate(language, options.voiceMode, context);
      rates.set(language, found);
      const rate = await found;
      return rate === null ? [] : checkSpeech(scanText(bytes, path).cues, language, rate);
    };
    const checked: CheckedFile[] = [];
    for (const file of files) {
      const [target, source] = bilingualLanguages(file.path) ?? [];
      const standard = standardOf(target === undefined ? file : { language: knownLanguage(target) });
      const second =
        source === undefined
          ? null
          : { language: source, standardOf: standardOf({ language: knownLanguage(source) }) };
      const { lines, findings } = examineSubtitle(file.bytes, file.path, standard, second);
      // A text that cannot be read cannot be spoken, and one in two languages is not.
      const all =
        lines === null || source !== undefined ? findings : [...findings, ...(await checkDub(file))];
      const inOrder = all.toSorted((left, right) => left.cue - right.cue);
      checked.push({ file, rows: inOrder.map((finding) => toRow(file.label, finding)) });
    }
    const rows = checked.flatMap((each) => each.rows);
    await printList(context, FINDINGS, { data: rows }, { pages: () => rows.map(describeFinding) });
    if (options.junit !== undefined) {
      const cases = checked.map((each) => caseOf(each, options.strict));
      const report = writeJunit([{ name: 'subtitles', cases }]);
      await replaceFile(resolve(context.io.cwd, options.junit), report);
    }
    terminal.note(`${countNoun(files.length, 'file')}: ${countFindings(rows)}.`);
    return exitCodeFor(rows, options.strict);
  },
});

interface CheckedFile {
  readonly file: { readonly label: string };
  readonly rows: readonly FindingRow[];
}

/** Each file is a test case, which fails for the reasons for which the command does. */
function caseOf({ file, rows }: CheckedFile, strict: boolean): TestCase {
  const test = { name: file.label, subject: 'subtitles' };
  const lines = rows.map(describeFinding);
  if (exitCodeFor(rows, strict) === 0) return { ...test, output: lines };
  return { ...test, failure: { type: 'SUBTITLES', message: countFindings(rows), lines } };
}
