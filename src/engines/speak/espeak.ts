/** Speech with espeak-ng. */

import { parseClip, trimSilence } from '../../media/audio/clip.ts';
import { BYTES_PER_SAMPLE } from '../../media/audio/wav.ts';
import type { Programs } from '../../media/programs/programs.ts';
import type { Clip, EngineRun } from '../../media/work.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { matchLanguage } from '../../protocol/languages.ts';
import type { Speaker, SpeechRequest } from '../backend.ts';
import { MOST_SPEED } from '../backends/voice-choice.ts';
import { BUILT_IN } from '../config.ts';
import { chooseVoice, listVoices, type Voice, voiceNames } from './voices.ts';

/** Sample rate of espeak-ng, in samples per second. */
const SAMPLE_RATE = 22_050;

/** The longest text of one cue, spoken slowly, lasts about six minutes. */
const MAX_CLIP_BYTES = 600 * SAMPLE_RATE * BYTES_PER_SAMPLE;

/** A comfortable pace in words per minute, close to its default. */
const NATURAL_RATE = 165;

/** The built-in speaker. */
export function createEspeak(programs: Programs): Speaker {
  let listed: Promise<readonly Voice[]> | null = null;
  const list = (run: EngineRun) => {
    listed ??= listVoices(programs, run);
    // A cancelled job must not leave its failure to the next one.
    listed.catch(() => {
      listed = null;
    });
    return listed;
  };
  return {
    name: BUILT_IN.speak[1],
    concurrency: programs.parallel,
    mostSpeed: MOST_SPEED,
    isLevel: true,
    voices: async (run) =>
      (await list(run)).map((voice) => ({ language: voice.language, voices: voiceNames(voice) })),
    supports: async (language, run) => {
      const languages = (await list(run)).map((voice) => voice.language);
      return matchLanguage(language, languages) !== null;
    },
    speak: async (request, run) => speakText(programs, await list(run), request, run),
    close: async () => {},
  };
}

/**
 * Speaks a text and removes silence at both ends. The text is sent through stdin: as an argument it could be read as an
 * option.
 */
async function speakText(
  programs: Programs,
  voices: readonly Voice[],
  { text, language, voiceMode, speed }: SpeechRequest,
  { folder, signal }: EngineRun,
): Promise<Clip> {
  const voice = chooseVoice(voices, language, voiceMode);
  if (voice === null) {
    throw new JobFailure('LANGUAGE_NOT_SUPPORTED', `espeak-ng has no voice for "${language}"`);
  }
  // Two opening brackets start phoneme input.
  const plain = text.replaceAll(/[[\]]+/g, ' ');
  const rate = Math.round(NATURAL_RATE * speed);
  const args = ['-v', voice, '-s', String(rate), '-z', '-b', '1', '--stdin', '--stdout'];
  const options = { folder, signal, stdin: { text: `${plain}\n` }, maxStdoutBytes: MAX_CLIP_BYTES };
  return trimSilence(parseClip(await programs.run('espeak-ng', args, options)));
}
