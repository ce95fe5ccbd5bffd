/** Audio separation: the stems of a video. */
import type { Products, Tasks, Work } from '../engine.ts';
import type { Programs } from '../programs.ts';
import { separate } from '../separate/separate.ts';

/** Splits the sound of a video into voice and background. @throws JobFailure, ProgramMissing, ChildFailure */
export async function separateAudio(
  programs: Programs,
  task: Tasks['audio_separation'],
  work: Work,
): Promise<Products['audio_separation']> {
  const { vocals, background } = await separate(programs, task.video, false, work);
  return {
    vocalAudio: { path: vocals, contentType: 'audio/wav' },
    backgroundAudio: { path: background, contentType: 'audio/wav' },
  };
}
