/** Speech recognition: chooses a recognizer, drops what cannot have been said, and makes cues of the words. */

import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { joinSpaced } from '../../media/subtitles/text.ts';
import type { EngineUse, Subtitle, Work } from '../../media/work.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { matchLanguage } from '../../protocol/languages.ts';
import { firstWords } from '../../protocol/pair-cues.ts';
import type { Recognition, RecognitionTask, Recognizer, Word } from '../backend.ts';
import { chooseBackend, type StepEngines } from '../choose.ts';
import type { Separation } from '../separate/separate.ts';
import { span, wordsToCues } from './cues.ts';
import { type Doubt, findDoubts } from './doubts.ts';
import { cutUtterances } from './pocketsphinx.ts';

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
  const task = { voice, segments, language: sourceLanguage };
  const heard = await backend.recognize(task, work);
  const { words, doubts } = await settleDoubts(backend, task, heard, work);
  const dropped = doubts.map(describeDoubt);
  if (words.length === 0) throw noSpeechFailure(dropped);
  return {
    subtitle: { language: heard.language, lines: wordsToCues(words, heard.punctuated) },
    use: dropped.length === 0 ? use : { ...use, dropped },
  };
}

/**
 * Recognizes speech with doubtful words once more, each segment alone: models repeat themselves because of what they heard before.
 * @returns the words without those that are still doubtful, and the doubtful ones that nothing has replaced
 */
async function settleDoubts(
  backend: Recognizer,
  task: RecognitionTask,
  { words, punctuated, language }: Recognition,
  work: Work,
): Promise<{ words: readonly Word[]; doubts: readonly Doubt[] }> {
  const doubts = findDoubts(words, task.segments, punctuated);
  let settled = words;
  for (const number of new Set(doubts.flatMap((doubt) => doubt.words.map(({ segment }) => segment)))) {
    const alone = await recognizeAlone(backend, { ...task, language }, number, work);
    if (alone !== null) settled = [...settled.filter(({ segment }) => segment !== number), ...alone];
  }
  settled = settled.toSorted((a, b) => a.start - b.start);
  const still = findDoubts(settled, task.segments, punctuated);
  const doubtful = new Set(still.flatMap((doubt) => doubt.words));
  const gone = doubts.flatMap((doubt) => {
    const own = doubt.words.filter((word) => !settled.includes(word));
    const { start, end } = span(own);
    const isReplaced = settled.some((word) => word.start < end && word.end > start);
    return own.length === 0 || isReplaced ? [] : [{ ...doubt, words: own }];
  });
  return {
    words: settled.filter((word) => !doubtful.has(word)),
    doubts: [...still, ...gone].sort((a, b) => span(a.words).start - span(b.words).start),
  };
}

/** Recognizes a segment as a sound of its own; null if the engine fails, as programs do that write no subtitles for no words. */
async function recognizeAlone(
  backend: Recognizer,
  { voice, segments, language }: RecognitionTask,
  number: number,
  work: Work,
): Promise<Word[] | null> {
  const folder = await mkdtemp(join(work.folder, 'again-'));
  const [sound] = await cutUtterances(voice, segments.slice(number, number + 1), folder);
  if (sound === undefined) return null;
  const { start, length, name } = sound;
  const task = { voice: join(folder, `${name}.wav`), segments: [{ start: 0, end: length }], language };
  try {
    const { words } = await backend.recognize(task, { ...work, folder, report: () => {} });
    return words.map((word) => ({
      ...{ text: word.text, segment: number },
      ...{ start: start + word.start, end: start + word.end },
    }));
  } catch (error) {
    if (work.signal.aborted || !(error instanceof JobFailure)) throw error;
    return null;
  }
}

/** Characters of a dropped text that are kept: two rows. */
const SHOWN_CHARACTERS = 84;

function describeDoubt({ words, reason }: Doubt): NonNullable<EngineUse['dropped']>[number] {
  const { start, end } = span(words);
  const text = firstWords(joinSpaced(words.map((word) => word.text)), SHOWN_CHARACTERS);
  return { start_ms: Math.round(start * 1000), end_ms: Math.round(end * 1000), text, reason };
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

function noSpeechFailure(dropped: NonNullable<EngineUse['dropped']> = []): JobFailure {
  const [first] = dropped;
  const what =
    first === undefined ? '' : `; what was recognized cannot have been said, such as "${first.text}"`;
  return new JobFailure('NO_SPEECH_DETECTED', `no speech was found in the sound of the video${what}`);
}
