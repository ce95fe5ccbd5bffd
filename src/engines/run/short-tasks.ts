/** The four kinds of job that run one or two engines. */
import type { Products, Tasks, Work } from '../engine.ts';
import type { Programs } from '../programs.ts';
import { recognize } from '../recognize/recognize.ts';
import { separate } from '../separate/separate.ts';
import { speak } from '../speak/speak.ts';
import { translate } from '../translate/translate.ts';
import { portion } from './progress.ts';

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

/** Measured share of the time for separation. */
const SEPARATION_SHARE = 0.35;

/** Recognizes the speech of a video. @throws JobFailure, ProgramMissing, ChildFailure */
export async function recognizeSubtitle(
  programs: Programs,
  task: Tasks['subtitle_recognition'],
  work: Work,
): Promise<Products['subtitle_recognition']> {
  const separation = await separate(programs, task.video, true, portion(work, 0, SEPARATION_SHARE));
  const recognizing = portion(work, SEPARATION_SHARE, 1);
  return { subtitle: await recognize(programs, separation, task.sourceLanguage, recognizing) };
}

/** Translates subtitles. @throws JobFailure, ProgramMissing, ChildFailure */
export async function translateSubtitle(
  programs: Programs,
  task: Tasks['subtitle_translation'],
  work: Work,
): Promise<Products['subtitle_translation']> {
  return { subtitle: await translate(programs, task, work) };
}

/** Speaks subtitles. @throws JobFailure, ProgramMissing, ChildFailure */
export async function dubSubtitle(
  programs: Programs,
  task: Tasks['dubbing'],
  work: Work,
): Promise<Products['dubbing']> {
  const { path, durationSeconds } = await speak(programs, { ...task, durationSeconds: null }, work);
  return { audio: { path, contentType: 'audio/wav' }, durationSeconds };
}
