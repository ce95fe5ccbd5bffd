/** Reads and writes subtitles of all formats, and splits those with too many lines for one job. */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { looksLikeJson, parseJsonLines } from '../../batch/inputs/check-subtitle.ts';
import type { SourceSubtitle } from '../../batch/inputs/delivery.ts';
import { unitsOfLines } from '../../batch/inputs/items.ts';
import type { PlanIo } from '../../batch/inputs/plan-request.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { pairCues } from '../../protocol/pair-cues.ts';
import { formatSrt } from '../../protocol/srt.ts';
import {
  type SpokenLine,
  SUBTITLE_FORMATS,
  type SubtitleFormat,
  type SubtitleLine,
} from '../../protocol/subtitle-line.ts';
import type { LongLimits } from '../context/context.ts';
import { serviceLimits } from './examine-video.ts';
import type { FindSpeakers } from './speakers.ts';
import type { Voices } from './voices.ts';

/**
 * @param limits default: those of the service
 * @param voices whose speakers get parts of their own; null for none
 */
export function createLinesExaminer(
  kind: JobKind,
  isSplit: boolean,
  limits: LongLimits | undefined,
  voices: Voices | null = null,
): PlanIo['examineLines'] {
  return async (lines, speakers) => {
    const { lines: most } = limits ?? (await serviceLimits());
    const groups = voices?.assign(lines, speakers) ?? [{ lines }];
    const byName = voices?.byName;
    if (groups.every((group) => group.lines.length <= most)) {
      const parts = voices === null ? null : groups.map((group) => ({ ...group, offsetMs: 0 }));
      return { type: 'usable', parts, voices: byName };
    }
    const { describeSplitCost, splitSubtitle } = await import('../../media/index.ts');
    const parts = groups.flatMap((group) =>
      splitSubtitle(group.lines, most).map((part) => ({ ...group, ...part })),
    );
    if (isSplit) return { type: 'usable', parts, voices: byName };
    const { unit, quantity: units } = unitsOfLines(kind, parts);
    const { quantity: unitsWhole } = unitsOfLines(kind, groups);
    const cost = describeSplitCost({ parts: parts.length, unit, units, unitsWhole });
    const detail = `it has ${lines.length} lines, and the service accepts ${most} per job; ${cost}, for each language`;
    return { type: 'problem', detail };
  };
}

type SubtitleIo = Required<Pick<PlanIo, 'readSubtitle' | 'rewriteSubtitle'>>;

/** @param findSpeakers of a video whose speech was recognized; default: lines get no speakers */
export const createSubtitleIo = (findSpeakers?: FindSpeakers): SubtitleIo => ({
  async readSubtitle(bytes, name) {
    if (bytes.length === 0) return 'the file is empty';
    const [{ readCues, wordLines }, { PreparationFailure }] = await Promise.all([
      import('../../media/subtitles/read-subtitle.ts'),
      import('../../media/programs/failures.ts'),
    ]);
    try {
      const file = readCues(bytes, name);
      const lines = wordLines(file);
      if (lines.length === 0) return 'not usable as subtitles, no cue has words';
      const { format, cues } = file;
      const isRolling = cues.some(({ cue }) => cue === null);
      const isPlain = format === 'srt' && (isRolling || Buffer.from(formatSrt(lines)).equals(bytes));
      const note = `they are rolling captions, so each of their ${lines.length} rows is taken once`;
      return { lines, ...(isPlain ? {} : { form: format }), notes: isRolling ? [note] : [] };
    } catch (error) {
      // The caller adds the name of the file.
      if (error instanceof PreparationFailure)
        return `not usable as subtitles, ${withoutName(error.message, name)}`;
      throw error;
    }
  },
  rewriteSubtitle(asked, input) {
    const form = input?.type === 'lines' ? input.form : undefined;
    const format = SUBTITLE_FORMATS.find((each) => each === asked) ?? form ?? 'srt';
    if (format === 'srt' && form === undefined) return undefined;
    return {
      format,
      async apply(srt) {
        const [{ readSubtitleFile, scanText }, { writeSubtitle }] = await Promise.all([
          import('../../media/subtitles/read-subtitle.ts'),
          import('../../media/subtitles/write.ts'),
        ]);
        const { cues, faults } = scanText(srt, 'result.srt');
        // A paid result that cannot be read is kept as it came, and one without a text has no lines.
        if (faults.length > 0) return srt;
        const isEmpty = cues.every(({ text }) => text === '');
        const lines = isEmpty ? [] : readSubtitleFile(srt, 'result.srt');
        if (input?.type === 'lines') return writeLikeSource(input, lines, format);
        const isKnown = findSpeakers !== undefined && input?.type === 'file';
        return Buffer.from(writeSubtitle(isKnown ? await findSpeakers(input.path, lines) : lines, format));
      },
    };
  },
});

/** Writes a translation like the file that it was made of; without that file, only words, times and speakers. */
async function writeLikeSource(
  input: SourceSubtitle,
  lines: readonly SubtitleLine[],
  format: SubtitleFormat,
): Promise<Uint8Array> {
  const [{ encodeLike, readCues, readSpokenFile, wordLines }, { writeLike }, { writeSubtitle }] =
    await Promise.all([
      import('../../media/subtitles/read-subtitle.ts'),
      import('../../media/subtitles/write-like.ts'),
      import('../../media/subtitles/write.ts'),
    ]);
  const { path = input.label } = input.file ?? {};
  const source = input.stdin ?? (await readFile(path).catch(() => null));
  // A file that was changed since is another source.
  const bytes = source !== null && hash('sha256', source) === input.sha256 ? source : null;
  if (bytes === null) return Buffer.from(writeSubtitle(lines, format));
  if (looksLikeJson(bytes)) {
    const spoken = parseJsonLines(bytes, Number.POSITIVE_INFINITY);
    return Buffer.from(writeSubtitle(nameSpeakers(lines, typeof spoken === 'string' ? [] : spoken), format));
  }
  const file = readCues(bytes, path);
  const text = writeLike(file, lines);
  if (text === null) return Buffer.from(writeSubtitle(nameSpeakers(lines, wordLines(file)), format));
  const written = encodeLike(bytes, text);
  return format === file.format ? written : Buffer.from(writeSubtitle(readSpokenFile(written, path), format));
}

/** The lines with the speakers of those that they translate. */
export function nameSpeakers(
  lines: readonly SubtitleLine[],
  spoken: readonly SpokenLine[],
): readonly SpokenLine[] {
  const pairs = pairCues(lines, spoken);
  return lines.map((line, at) => {
    const speaker = pairs[at]?.speaker;
    return speaker === undefined ? line : { ...line, speaker };
  });
}

function withoutName(message: string, name: string): string {
  return message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message;
}
