/** Recognition as the pipelines see it: a separated voice in, cues out. */
import { JobFailure } from '../../protocol/job-failure.ts';
import type { Subtitle, Work } from '../engine.ts';
import { matchLanguage } from '../languages.ts';
import type { Programs } from '../programs.ts';
import type { Separation } from '../separate/separate.ts';
import { wordsToCues } from './cues.ts';
import { findSpeechModels, type SpeechModel } from './model.ts';
import { recognizeUtterances } from './pocketsphinx.ts';
import { cutUtterances } from './utterances.ts';

/**
 * Writes down what is said.
 * @param sourceLanguage a BCP 47 tag, or `auto` for the only (else the first) language there is a model for
 * @throws JobFailure NO_SPEECH_DETECTED, LANGUAGE_NOT_SUPPORTED; ProgramMissing, ChildFailure
 */
export async function recognize(
  programs: Programs,
  separation: Separation,
  sourceLanguage: string,
  work: Work,
): Promise<Subtitle> {
  const model = chooseModel(sourceLanguage);
  if (separation.segments.length === 0 || separation.voice === null) throw noSpeech();
  const utterances = await cutUtterances(separation.voice, separation.segments, work.folder);
  const words = await recognizeUtterances(programs, model, utterances, work);
  if (words.length === 0) throw noSpeech();
  return { language: model.language, lines: wordsToCues(words) };
}

function chooseModel(sourceLanguage: string): SpeechModel {
  const models = findSpeechModels();
  if (models.length === 0) {
    const message = 'no speech recognition model is installed; install one with: vloc engines install';
    throw new JobFailure('ENGINE_ERROR', message);
  }
  const languages = models.map((model) => model.language);
  const language = sourceLanguage === 'auto' ? languages[0] : matchLanguage(sourceLanguage, languages);
  const model = models.find((candidate) => candidate.language === language);
  if (model !== undefined) return model;
  const message = `speech in "${sourceLanguage}" cannot be recognized here; recognizable: ${languages.join(', ')}`;
  throw new JobFailure('LANGUAGE_NOT_SUPPORTED', message);
}

function noSpeech(): JobFailure {
  return new JobFailure('NO_SPEECH_DETECTED', 'no speech was found in the sound of the video');
}
