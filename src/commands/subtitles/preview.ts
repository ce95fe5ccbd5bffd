/** `vloc subtitles preview`: one picture of a video with its burned subtitles. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import * as v from 'valibot';
import { configurationFailure, Failure, usageFailure } from '../../base/failure.ts';
import { flagOption, numberOption, textOption } from '../../base/option.ts';
import { drawPreview } from '../../media/export/preview.ts';
import { PreparationFailure } from '../../media/programs/failures.ts';
import { createPrograms } from '../../media/programs/programs.ts';
import { readSubtitleFile } from '../../media/subtitles/read-subtitle.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { formatTime } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import { asSentence, showPath } from '../context/format.ts';
import { describeRecord } from '../context/output-schemas.ts';
import { printRecord, type RecordForm } from '../context/records.ts';
import { readLook, SUBTITLE_STYLE_OPTION } from '../context/subtitle-style.ts';
import { BILINGUAL_OPTIONS, readSource } from './bilingual.ts';
import { readSubtitles, readWhole, unreadableFailure } from './subtitles.ts';
import { writeTarget } from './write-files.ts';

interface PreviewRow {
  readonly file: string;
  readonly written: string;
  readonly time: string;
}

const PREVIEW: RecordForm<PreviewRow> = {
  plural: 'previews',
  idOf: ({ written }) => written,
  columns: (['file', 'written', 'time'] as const).map((field) => ({ head: field, field })),
};

export const subtitlesPreview: Command = defineCommand({
  operands: { name: 'file', count: 'one', help: 'an SRT, WebVTT or ASS file' },
  options: {
    video: textOption('file', 'the video', { required: true }),
    at: numberOption('seconds', 'time of the picture, such as 12 or 12.5 (default: in the first cue)', {
      from: 0,
    }),
    ...SUBTITLE_STYLE_OPTION,
    ...BILINGUAL_OPTIONS,
    language: textOption('tag', 'language of the text, for its font (default: that in the name)'),
    out: textOption('file', 'the PNG (default: the name of the subtitles, in the current folder)'),
    clobber: flagOption('replace the file if it exists'),
  },
  examples: [
    {
      command: 'vloc subtitles preview talk.es.srt --video talk.mp4 --at 12',
      explains: 'writes ./talk.es.png, as `--subtitle-output burned` would draw it',
    },
    {
      command: 'vloc subtitles preview talk.es.srt --video talk.mp4 --subtitle-style box --out box.png',
      explains: 'in another style',
    },
  ],
  notes: ['It is drawn on this machine and free.'],
  fields: () => ['file', 'written', 'time'],
  prints: describeRecord(v.object({ file: v.string(), written: v.string(), time: v.string() })),
  run: async (context, [operand = ''], options) => {
    const { io, signal, terminal } = context;
    const { video, at, out, clobber } = options;
    if (video === undefined)
      throw invalidCallFailure('the video is missing', 'Name it with --video talk.mp4.');
    const look = await readLook(options.subtitleStyle, io);
    const [file, ...others] = await readSubtitles([operand], options, context);
    if (file === undefined || others.length > 0)
      throw invalidCallFailure(`${operand} has several subtitles`, 'Name one file.');
    const both = await readSource(options, [file], context);
    const read = readWhole(file, readSubtitleFile);
    const all = both === null ? read : both.pair(read);
    const timeMs = at === undefined ? middleOf(all[0]) : at * 1000;
    const lines = all.filter(({ start_ms, end_ms }) => start_ms <= timeMs && timeMs < end_ms);
    if (lines.length === 0) throw noCueFailure(file.label, timeMs, all);
    const path = resolve(io.cwd, out ?? `${basename(file.path).replace(/\.[^.]*$/, '')}.png`);
    const source = resolve(io.cwd, video);
    await stat(source).catch((error: unknown) => {
      throw unreadableFailure(video, error);
    });
    const folder = await mkdtemp(join(tmpdir(), 'vloc-preview-'));
    try {
      const subtitle = { language: file.language ?? 'und', lines, second: both?.second };
      const task = { video: source, atSeconds: timeMs / 1000, subtitle, look };
      const drawn = await drawPreview(createPrograms(io.env.PATH ?? ''), task, { signal, folder });
      if (drawn.unshown.length > 0)
        terminal.warn(`No font here has ${drawn.unshown.slice(0, 3).join(' ')}; boxes are drawn instead.`);
      await writeTarget(path, await readFile(drawn.path), clobber, 'Choose another --out, or use --clobber.');
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof Failure ? error : previewFailure(error);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    await printRecord(context, PREVIEW, {
      ...{ file: file.label, written: showPath(path, io.cwd), time: formatTime(timeMs) },
    });
    return 0;
  },
});

function middleOf(line: SubtitleLine | undefined): number {
  return line === undefined ? 0 : Math.round((line.start_ms + line.end_ms) / 2);
}

function noCueFailure(label: string, timeMs: number, all: readonly SubtitleLine[]): Failure {
  const next = all.find(({ start_ms }) => start_ms > timeMs) ?? all.at(-1);
  const advice = `Choose another --at, such as ${middleOf(next) / 1000}.`;
  return usageFailure('NO_SUBTITLES', `${label} has no cue at ${formatTime(timeMs)}`, advice);
}

/** @throws the error itself if it is unexpected */
function previewFailure(error: unknown): Failure {
  if (!(error instanceof PreparationFailure || error instanceof JobFailure)) throw error;
  const advice =
    error instanceof PreparationFailure ? asSentence(error.advice) : 'Check the style and the file.';
  const fail = error.code === 'PROGRAM_MISSING' ? configurationFailure : usageFailure;
  return fail(error.code, error.message, advice, {}, { cause: error });
}
