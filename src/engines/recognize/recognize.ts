/** Speech recognition: chooses a recognizer, and makes cues of its words. */

import type { EngineUse, Subtitle, Work } from '../../media/work.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { matchLanguage } from '../../protocol/languages.ts';
import { chooseBackend, type StepEngines } from '../choose.ts';
import type { Separation } from '../separate/separate.ts';
import { wordsToCues } from './cues.ts';

/**
 * Recognizes speech.
 * @param sourceLanguage a BCP 47 tag, or `auto` to let the first recognizer decide
 * @throws JobFailure NO_SPEECH_DETECTED, LANGUAGE_NOT_SUPPORTED; ProgramMissing, ChildFailure
 */
export async function recognizeSpeech(
  engines: StepEngines,
  separation: Separation,
  sourceLanguage: string,
  work: Work,
): Promise<{ subtitle: Subtitle; use: EngineUse }> {
  const { backend, use } = await chooseBackend(
    'recognize',
    engines.recognize,
    async (recognizer) => {
      const languages = await recognizer.languages(work);
      return sourceLanguage === 'auto'
        ? languages.length > 0
        : matchLanguage(sourceLanguage, languages) !== null;
    },
    () => noLanguage(engines, sourceLanguage, work),
  );
  const { voice, segments } = separation;
  if (segments.length === 0 || voice === null) throw noSpeechFailure();
  const { language, words, punctuated } = await backend.recognize(
    { voice, segments, language: sourceLanguage },
    work,
  );
  if (words.length === 0) throw noSpeechFailure();
  return { subtitle: { language, lines: wordsToCues(words, punctuated) }, use };
}

async function noLanguage(engines: StepEngines, language: string, work: Work): Promise<JobFailure> {
  const lists = await Promise.all(engines.recognize.map(({ backend }) => backend.languages(work)));
  const languages = [...new Set(lists.flat())];
  if (languages.length === 0) {
    const message = 'no speech recognition model is installed; install one with: vloc engines install';
    return new JobFailure('ENGINE_ERROR', message);
  }
  const message = `speech in "${language}" cannot be recognized here; recognizable: ${languages.join(', ')}`;
  return new JobFailure('LANGUAGE_NOT_SUPPORTED', message);
}

function noSpeechFailure(): JobFailure {
  return new JobFailure('NO_SPEECH_DETECTED', 'no speech was found in the sound of the video');
}
