/** The four kinds of job that run one or two engines. */

import type { Work } from '../../media/work.ts';
import type { Products, Tasks } from '../engine.ts';
import type { StepEngines } from '../registry.ts';
import { portion } from './progress.ts';
import { recognizeOnce, separateOnce, speakOnce, translateOnce } from './stages.ts';

/** Splits the sound of a video into voice and background. @throws JobFailure, ProgramMissing, ChildFailure */
export async function separateAudio(
  engines: StepEngines,
  task: Tasks['audio_separation'],
  work: Work,
): Promise<Products['audio_separation']> {
  const { vocals, background, use } = await separateOnce(engines, task.video, work);
  return {
    engines: [use],
    fits: [],
    vocalAudio: { path: vocals, contentType: 'audio/wav' },
    backgroundAudio: { path: background, contentType: 'audio/wav' },
  };
}

/** Measured share of the time for separation. */
const SEPARATION_SHARE = 0.35;

/** Recognizes the speech of a video. @throws JobFailure, ProgramMissing, ChildFailure */
export async function recognizeSubtitle(
  engines: StepEngines,
  task: Tasks['subtitle_recognition'],
  work: Work,
): Promise<Products['subtitle_recognition']> {
  const separation = await separateOnce(engines, task.video, portion(work, 0, SEPARATION_SHARE));
  const recognizing = portion(work, SEPARATION_SHARE, 1);
  const { subtitle, use } = await recognizeOnce(engines, separation, task.sourceLanguage, recognizing);
  return { subtitle, engines: [separation.use, use], fits: [] };
}

/** Translates subtitles. @throws JobFailure, ProgramMissing, ChildFailure */
export async function translateSubtitle(
  engines: StepEngines,
  task: Tasks['subtitle_translation'],
  work: Work,
): Promise<Products['subtitle_translation']> {
  const { subtitle, use } = await translateOnce(engines, task, work);
  return { subtitle, engines: [use], fits: [] };
}

/** Speaks subtitles. @throws JobFailure, ProgramMissing, ChildFailure */
export async function dubSubtitle(
  engines: StepEngines,
  task: Tasks['dubbing'],
  work: Work,
): Promise<Products['dubbing']> {
  const whole = { ...task, durationSeconds: null };
  const { path, durationSeconds, use, fits } = await speakOnce(engines, whole, work);
  return { audio: { path, contentType: 'audio/wav' }, durationSeconds, engines: [use], fits };
}
