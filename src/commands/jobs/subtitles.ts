/** Reads and writes subtitles of all formats, and splits those with too many lines for one job. */
import { readFile } from 'node:fs/promises';
import type { PlanIo } from '../../batch/plan/batch-plan.ts';
import { looksLikeJson, parseJsonLines } from '../../batch/plan/check-subtitle.ts';
import { unitsOfLines } from '../../batch/plan/items.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { type SpokenLine, SUBTITLE_FORMATS, type SubtitleLine } from '../../protocol/subtitle-line.ts';
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

/** @param findSpeakers default: lines get no speakers */
export const createSubtitleIo = (findSpeakers?: FindSpeakers): SubtitleIo => ({
  async readSubtitle(bytes, name) {
    if (bytes.length === 0) return 'the file is empty';
    const [{ readSpokenFile }, { PreparationFailure }] = await Promise.all([
      import('../../media/subtitles/read.ts'),
      import('../../media/programs/failures.ts'),
    ]);
    try {
      return readSpokenFile(bytes, name);
    } catch (error) {
      // The caller adds the name of the file.
      if (error instanceof PreparationFailure)
        return `not usable as subtitles, ${withoutName(error.message, name)}`;
      throw error;
    }
  },
  rewriteSubtitle(name) {
    const format = SUBTITLE_FORMATS.find((each) => each === name);
    if (format === undefined || format === 'srt') return undefined;
    return {
      extension: `.${format}`,
      async apply(srt, source) {
        const [{ readSubtitleFile }, { writeSubtitle }] = await Promise.all([
          import('../../media/subtitles/read.ts'),
          import('../../media/subtitles/write.ts'),
        ]);
        const lines = readSubtitleFile(srt, 'result.srt');
        const isKnown = findSpeakers !== undefined && source !== undefined;
        return Buffer.from(writeSubtitle(isKnown ? await findSpeakers(source, lines) : lines, format));
      },
    };
  },
});

/** The lines with the speakers of the file that was translated. */
export const keepSpeakers: FindSpeakers = async (source, lines) => {
  const { readSpokenFile } = await import('../../media/subtitles/read.ts');
  const spoken = await readFile(source)
    .then((bytes) => {
      const read = looksLikeJson(bytes)
        ? parseJsonLines(bytes, Number.POSITIVE_INFINITY)
        : readSpokenFile(bytes, source);
      return typeof read === 'string' ? [] : read;
    })
    .catch(() => []);
  return nameSpeakers(lines, spoken);
};

/**
 * The lines with the speakers of those that they translate: of the line with the same number, or of the one that begins at the
 * same time if some have none.
 */
export function nameSpeakers(
  lines: readonly SubtitleLine[],
  spoken: readonly SpokenLine[],
): readonly SpokenLine[] {
  const byStart = new Map(spoken.map(({ start_ms, speaker }) => [start_ms, speaker]));
  const isWhole = spoken.length === lines.length;
  return lines.map((line, at) => {
    const speaker = isWhole ? spoken[at]?.speaker : byStart.get(line.start_ms);
    return speaker === undefined ? line : { ...line, speaker };
  });
}

function withoutName(message: string, name: string): string {
  return message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message;
}
