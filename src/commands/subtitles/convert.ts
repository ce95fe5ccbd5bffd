/** `vloc subtitles convert`: the same cues in another format. */
import { dirname, join, resolve } from 'node:path';
import * as v from 'valibot';
import { choiceOption, flagOption, textOption } from '../../base/option.ts';
import { bilingualName } from '../../batch/inputs/bilingual-name.ts';
import { subtitleStem } from '../../batch/inputs/check-subtitle.ts';
import { alignmentOf } from '../../media/subtitles/cue-text.ts';
import { type ReadFile, readCues, SUBTITLE_NAME } from '../../media/subtitles/read-subtitle.ts';
import { writeSubtitle } from '../../media/subtitles/write.ts';
import { SUBTITLE_FORMATS, type SubtitleFormat } from '../../protocol/subtitle-line.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { showPath } from '../context/format.ts';
import { describeList } from '../context/output-schemas.ts';
import { printList, type RecordForm } from '../context/records.ts';
import { BILINGUAL_OPTIONS, type Pairing, readSource } from './bilingual.ts';
import { countNoun, readSubtitles, readWhole, SUBTITLE_OPERANDS, type SubtitleFile } from './subtitles.ts';
import { checkTargets, writeTarget } from './write-files.ts';

interface ConvertedRow {
  readonly file: string;
  readonly written: string;
  readonly cues: number;
}

const CONVERTED: RecordForm<ConvertedRow> = {
  plural: 'files to convert',
  idOf: ({ written }) => written,
  columns: (['file', 'written', 'cues'] as const).map((field) => ({ head: field, field })),
};

export const subtitlesConvert: Command = defineCommand({
  operands: SUBTITLE_OPERANDS,
  options: {
    to: choiceOption(SUBTITLE_FORMATS, 'the format to write', { required: true }),
    out: textOption('folder', 'write the files into this folder (default: beside each file)'),
    clobber: flagOption('replace files that exist'),
    ...BILINGUAL_OPTIONS,
  },
  examples: [
    { command: 'vloc subtitles convert talk.es.srt --to vtt', explains: 'writes ./talk.es.vtt' },
    {
      command: 'vloc subtitles convert subtitles --to ass --out converted',
      explains: 'all files of a folder, with its tree',
    },
    {
      command: 'vloc subtitles convert talk.es.srt --to vtt --bilingual above --source talk.en.srt',
      explains: 'writes ./talk.es+en.vtt, which no other command translates or dubs',
    },
  ],
  notes: [
    'Words, times, italics, bold, colours, speakers and the side of the picture are kept, as far as the other format has them: SRT has no speakers.',
    'A file that has the format already is copied with --out, and left alone without.',
  ],
  fields: () => ['file', 'written', 'cues'],
  prints: describeList(v.object({ file: v.string(), written: v.string(), cues: v.number() })),
  run: async (context, operands, { to, out, clobber, bilingual, source }) => {
    if (to === undefined)
      throw invalidCallFailure('the format is missing', `Add --to ${SUBTITLE_FORMATS.join(', --to ')}.`);
    const { io, terminal } = context;
    const found = await readSubtitles(operands, {}, context);
    const read = found.map((file) => ({ file, ...readWhole(file, readCues) }));
    const both = await readSource({ bilingual, source }, found, context);
    const due = out === undefined && both === null ? read.filter(({ format }) => format !== to) : read;
    for (const { file } of read.filter((each) => !due.includes(each)))
      terminal.note(`${file.label} has this format already.`);
    const targets = due.map(({ file: { path, name, language } }) => {
      const place = out === undefined ? path : resolve(io.cwd, out, name);
      const whole = bilingualName(subtitleStem(place), language ?? 'und', both?.second.language ?? '');
      return `${both === null ? place.replace(SUBTITLE_NAME, '') : join(dirname(place), whole)}.${to}`;
    });
    await checkTargets(
      due.map(({ file }) => file),
      targets,
      'another name',
    );
    const rows: ConvertedRow[] = [];
    for (const [at, each] of due.entries()) {
      context.signal.throwIfAborted();
      const path = targets[at] ?? '';
      await writeTarget(path, bytesOf(each, to, both), clobber, 'Choose another --out, or use --clobber.');
      const written = showPath(path, io.cwd);
      rows.push({ file: each.file.label, written, cues: each.cues.length });
      const speakers = new Set(each.cues.flatMap(({ line }) => line.speaker ?? [])).size;
      if (to === 'srt' && speakers > 0)
        terminal.note(`${written}: SRT has no place for the names of ${countNoun(speakers, 'speaker')}.`);
    }
    await printList(context, CONVERTED, { data: rows });
    return 0;
  },
});

interface ReadSubtitle extends ReadFile {
  readonly file: SubtitleFile;
}

function bytesOf(
  { file, format, text, cues }: ReadSubtitle,
  to: SubtitleFormat,
  both: Pairing | null,
): Uint8Array {
  if (both !== null) {
    const lines = cues.map(({ line }) => line);
    return Buffer.from(writeSubtitle(both.pair(lines), to, both.second));
  }
  if (format === to) return file.bytes;
  const rows = text.split(/\r\n|\r|\n/);
  const lines = cues.map(({ line, cue }) => {
    if (to === 'srt' || cue === null) return line;
    const [, settings = ''] = /-->\s*\S+(.*)/.exec(rows[cue.row - 1] ?? '') ?? [];
    return { ...line, text: alignmentOf(format, cue.written, settings) + line.text };
  });
  return Buffer.from(writeSubtitle(lines, to));
}
