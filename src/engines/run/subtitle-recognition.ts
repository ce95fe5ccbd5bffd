/** Subtitle recognition: the cues of what is said in a video. */
import type { Products, Tasks, Work } from '../engine.ts';
import type { Programs } from '../programs.ts';
import { recognize } from '../recognize/recognize.ts';
import { separate } from '../separate/separate.ts';
import { portion } from './progress.ts';

/** Measured share of the time that separation takes. */
const SEPARATION_SHARE = 0.35;

/** Writes down what is said. @throws JobFailure, ProgramMissing, ChildFailure */
export async function recognizeSubtitle(
  programs: Programs,
  task: Tasks['subtitle_recognition'],
  work: Work,
): Promise<Products['subtitle_recognition']> {
  const separation = await separate(programs, task.video, true, portion(work, 0, SEPARATION_SHARE));
  const recognizing = portion(work, SEPARATION_SHARE, 1);
  return { subtitle: await recognize(programs, separation, task.sourceLanguage, recognizing) };
}
