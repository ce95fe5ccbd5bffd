/** Reads and writes subtitles of all formats, and splits those with too many lines for one job. */
import { readFile } from 'node:fs/promises';
import type { PlanIo } from '../../batch/plan/batch-plan.ts';
import { unitsOfLines } from '../../batch/plan/items.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { SUBTITLE_FORMATS } from '../../protocol/subtitle-line.ts';
import type { LongLimits } from '../context/context.ts';
import { serviceLimits } from './examine-video.ts';
import type { FindSpeakers } from './speakers.ts';

/** @param limits default: those of the service */
export function createLinesExaminer(
  kind: JobKind,
  isSplit: boolean,
  limits: LongLimits | undefined,
): PlanIo['examineLines'] {
  return async (lines) => {
    const { lines: most } = limits ?? (await serviceLimits());
    if (lines.length <= most) return { type: 'usable', parts: null };
    const { describeSplitCost, splitSubtitle } = await import('../../media/index.ts');
    const parts = splitSubtitle(lines, most);
    if (isSplit) return { type: 'usable', parts };
    const { unit, quantity: units } = unitsOfLines(kind, parts);
    const { quantity: unitsWhole } = unitsOfLines(kind, [{ lines }]);
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
    const [{ readSubtitleFile }, { PreparationFailure }] = await Promise.all([
      import('../../media/subtitles/read.ts'),
      import('../../media/programs/failures.ts'),
    ]);
    try {
      return readSubtitleFile(bytes, name);
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

/** The speakers of the lines that were translated, unless the file has changed so much that lines no longer correspond. */
export const keepSpeakers: FindSpeakers = async (source, lines) => {
  const { readSpeakers } = await import('../../media/subtitles/read.ts');
  const names = await readFile(source)
    .then((bytes) => readSpeakers(bytes, source))
    .catch(() => []);
  if (names.length !== lines.length) return lines;
  return lines.map((line, at) => ({ ...line, ...(names[at] === undefined ? {} : { speaker: names[at] }) }));
};

function withoutName(message: string, name: string): string {
  return message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message;
}
