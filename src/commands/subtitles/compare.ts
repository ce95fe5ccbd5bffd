/** `vloc subtitles compare`: the cues that differ between two files. */
import * as v from 'valibot';
import { EXIT_CODES } from '../../base/exit-codes.ts';
import { showInvisible } from '../../batch/report/text-reports.ts';
import { type CueChange, compareSubtitles, describeChange, readBack } from '../../media/subtitles/compare.ts';
import { readCues } from '../../media/subtitles/read-subtitle.ts';
import { formatTime } from '../../protocol/srt.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { describeList, NullableNumber, NullableText } from '../context/output-schemas.ts';
import { printList, type RecordForm } from '../context/records.ts';
import { countNoun, readSubtitles, readWhole } from './subtitles.ts';

const CHANGES = ['added', 'removed', 'changed', 'moved'] as const;

interface ChangeRow {
  readonly change: (typeof CHANGES)[number];
  /** Number of the cue in the first file; null if it was added. */
  readonly cue: number | null;
  /** In the second file; null if it was removed. */
  readonly new_cue: number | null;
  readonly time: string;
  /** How far start and end moved, in milliseconds; positive means later. Null for a cue that only one file has. */
  readonly start_moved_ms: number | null;
  readonly end_moved_ms: number | null;
  readonly text: string | null;
  readonly new_text: string | null;
}

const ROWS: RecordForm<ChangeRow> = {
  plural: 'differences',
  idOf: ({ change, time }) => `${time} ${change}`,
  columns: (['change', 'cue', 'new_cue', 'time', 'text', 'new_text'] as const).map((field) => ({
    head: field,
    field,
  })),
};

const DIFFERENCES = describeList(
  v.object({
    change: v.picklist(CHANGES),
    cue: NullableNumber,
    new_cue: NullableNumber,
    time: v.string(),
    start_moved_ms: NullableNumber,
    end_moved_ms: NullableNumber,
    text: NullableText,
    new_text: NullableText,
  }),
);

export const subtitlesCompare: Command = defineCommand({
  operands: { name: 'file', count: 'many', help: 'two SRT, WebVTT or ASS files, the earlier one first' },
  options: {},
  examples: [
    { command: 'vloc subtitles compare talk.es.srt edited/talk.es.srt', explains: 'the changed cues' },
    { command: 'vloc subtitles compare talk.es.srt talk.es.vtt --output json', explains: 'for programs' },
  ],
  notes: [
    'A cue is `added`, `removed`, `changed` in its words or tags, or only `moved` to other times. Formats may differ: what one of them cannot keep is not a difference.',
    'Exit codes: 0 if the cues are the same, 1 if they differ, 2 if a file cannot be read.',
  ],
  fields: () => [
    ...['change', 'cue', 'new_cue', 'time', 'start_moved_ms', 'end_moved_ms', 'text', 'new_text'],
  ],
  prints: DIFFERENCES,
  run: async (context, operands) => {
    const [first = '', second = '', ...others] = operands;
    if (operands.length < 2 || others.length > 0)
      throw invalidCallFailure(
        `${countNoun(operands.length, 'file')} given, and two are compared`,
        'Name the earlier file, then the later one.',
      );
    const [before, after] = await Promise.all(
      [first, second].map(async (operand) => {
        const [file, ...more] = await readSubtitles([operand], {}, context);
        if (file === undefined || more.length > 0)
          throw invalidCallFailure(`${operand} has several subtitles`, 'Name one file.');
        const { cues, format } = readWhole(file, readCues);
        return { lines: cues.map(({ line }) => line), format };
      }),
    );
    if (before === undefined || after === undefined) throw new TypeError('two files were read');
    const { same, changes } = compareSubtitles(
      readBack(before.lines, after.format),
      readBack(after.lines, before.format),
    );
    const rows = changes.map(toRow);
    const pages = () => changes.flatMap(describeChange).map(showInvisible);
    await printList(context, ROWS, { data: rows }, { pages });
    const counts = CHANGES.map((type) => `${rows.filter(({ change }) => change === type).length} ${type}`);
    context.terminal.note(`${countNoun(same, 'cue')} the same, ${counts.join(', ')}.`);
    return changes.length === 0 ? EXIT_CODES.done.code : EXIT_CODES.refused.code;
  },
});

function toRow(change: CueChange): ChangeRow {
  const left = change.type === 'added' ? null : change.before;
  const right = change.type === 'removed' ? null : change.after;
  const isPair = change.type === 'changed';
  return {
    change: isPair && !change.text ? 'moved' : change.type,
    cue: left?.index ?? null,
    new_cue: right?.index ?? null,
    time: formatTime((left ?? right)?.start_ms ?? 0),
    start_moved_ms: isPair ? change.startMoved : null,
    end_moved_ms: isPair ? change.endMoved : null,
    text: left?.text ?? null,
    new_text: right?.text ?? null,
  };
}
