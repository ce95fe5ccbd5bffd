/** Reads and writes subtitles of all formats, and splits those with too many lines for one job. */
import type { PlanIo } from '../../batch/plan/batch-plan.ts';
import { unitsOfLines } from '../../batch/plan/items.ts';
import type { JobKind } from '../../protocol/kind-names.ts';
import { SUBTITLE_FORMATS } from '../../protocol/subtitle-line.ts';
import type { LongLimits } from '../context/context.ts';
import { serviceLimits } from './examine-video.ts';

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

export const SUBTITLE_IO: Required<Pick<PlanIo, 'readSubtitle' | 'rewriteSubtitle'>> = {
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
      async apply(srt) {
        const [{ readSubtitleFile }, { writeSubtitle }] = await Promise.all([
          import('../../media/subtitles/read.ts'),
          import('../../media/subtitles/write.ts'),
        ]);
        return Buffer.from(writeSubtitle(readSubtitleFile(srt, 'result.srt'), format));
      },
    };
  },
};

function withoutName(message: string, name: string): string {
  return message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message;
}
