/** Dubbing: subtitles spoken as one track. */
import type { Products, Tasks, Work } from '../engine.ts';
import type { Programs } from '../programs.ts';
import { speak } from '../speak/speak.ts';

/** Speaks subtitles. @throws JobFailure, ProgramMissing, ChildFailure */
export async function dubSubtitle(
  programs: Programs,
  task: Tasks['dubbing'],
  work: Work,
): Promise<Products['dubbing']> {
  const { path, durationSeconds } = await speak(programs, { ...task, durationSeconds: null }, work);
  return { audio: { path, contentType: 'audio/wav' }, durationSeconds };
}
