/** Subtitles of all formats read and written, with libraries that are loaded when the first file comes. */
import type { PlanIo } from '../../batch/plan/batch-plan.ts';
import { SUBTITLE_FORMATS } from '../../protocol/subtitle-line.ts';

export const SUBTITLE_IO: Required<Pick<PlanIo, 'readSubtitle' | 'rewriteSubtitle'>> = {
  async readSubtitle(bytes, name) {
    const [{ readSubtitleFile }, { PreparationFailure }] = await Promise.all([
      import('../../prepare/subtitles/read.ts'),
      import('../../prepare/failure.ts'),
    ]);
    try {
      return await readSubtitleFile(bytes, name);
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
          import('../../prepare/subtitles/read.ts'),
          import('../../prepare/subtitles/write.ts'),
        ]);
        return Buffer.from(writeSubtitle(await readSubtitleFile(srt, 'result.srt'), format));
      },
    };
  },
};

function withoutName(message: string, name: string): string {
  return message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message;
}
