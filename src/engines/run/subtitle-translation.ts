/** Subtitle translation: cues in another language. */
import type { Products, Tasks, Work } from '../engine.ts';
import type { Programs } from '../programs.ts';
import { translate } from '../translate/translate.ts';

/** Translates subtitles. @throws JobFailure, ProgramMissing, ChildFailure */
export async function translateSubtitle(
  programs: Programs,
  task: Tasks['subtitle_translation'],
  work: Work,
): Promise<Products['subtitle_translation']> {
  return { subtitle: await translate(programs, task, work) };
}
