/** Speech with flite: English only, and much better understood than that of espeak-ng. */
import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseClip, trimSilence } from '../../media/audio/clip.ts';
import type { Programs } from '../../media/programs/programs.ts';
import type { Clip, EngineRun } from '../../media/work.ts';
import { sameLanguage } from '../../protocol/languages.ts';
import type { Speaker, SpeechRequest, VoiceMode } from '../backend.ts';
import { MOST_SPEED } from '../backends/voice-choice.ts';
import { BUILT_IN } from '../config.ts';

const ENGLISH = 'en';

/** The man's voice is the one that is understood best; see docs/quality.md. */
const VOICES: Readonly<Record<VoiceMode, string>> = { auto: 'rms', female: 'slt', male: 'rms' };

/** The built-in speaker of English. Where flite or its voices are not installed, it supports nothing. */
export function createFlite(programs: Programs): Speaker {
  const list = async (run: EngineRun) => (programs.locate('flite') === null ? [] : listVoices(programs, run));
  return {
    name: BUILT_IN.speak[0],
    concurrency: programs.parallel,
    mostSpeed: MOST_SPEED,
    isLevel: false,
    voices: async (run) => {
      const voices = await list(run);
      return voices.length === 0 ? [] : [{ language: ENGLISH, voices }];
    },
    supports: async (language, run) => sameLanguage(language, ENGLISH) && (await list(run)).length > 0,
    speak: (request, run) => speakText(programs, request, run),
    close: async () => {},
  };
}

/** The voices of `VOICES` that are there; none unless all are, because flite would use another one without a word. */
async function listVoices(programs: Programs, run: EngineRun): Promise<readonly string[]> {
  const printed = (await programs.run('flite', ['-lv'], run)).toString('utf8').split(/\s+/);
  const wanted = [...new Set(Object.values(VOICES))];
  return wanted.every((voice) => printed.includes(voice)) ? wanted : [];
}

/**
 * Speaks a text and removes silence at both ends. The text is sent through stdin: as an argument it could be read as an
 * option. The sound cannot be: flite goes back in its file to write the length.
 */
async function speakText(
  programs: Programs,
  { text, voiceMode, speed }: SpeechRequest,
  { folder, signal }: EngineRun,
): Promise<Clip> {
  // In the working folder, so that no path is too long.
  const sound = `${randomUUID()}.wav`;
  const tempo = ['--setf', `duration_stretch=${(1 / speed).toFixed(4)}`];
  const args = ['-voice', VOICES[voiceMode], ...tempo, '-f', '-', '-o', sound];
  await programs.run('flite', args, { folder, signal, stdin: { text: `${toAscii(text)}\n` } });
  const path = join(folder, sound);
  const clip = trimSilence(parseClip(await readFile(path)));
  await rm(path);
  return clip;
}

/** What Unicode does not take apart into a plain letter or sign and what is added to it. */
const PLAIN: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', Æ: 'AE', œ: 'oe', Œ: 'OE', ø: 'o', Ø: 'O', ł: 'l', Ł: 'L', đ: 'd', Đ: 'D' },
  ...{ ð: 'th', Ð: 'Th', þ: 'th', Þ: 'Th', ı: 'i', '‘': "'", '’': "'", ʼ: "'", '“': '"', '”': '"' },
  ...{ '‐': '-', '–': ', ', '—': ', ', '⁄': '/', '−': ' minus ', '×': ' times ', '÷': ' divided by ' },
  ...{ '€': ' euros ', '£': ' pounds ', '°': ' degrees ' },
};

/**
 * Writes a text in the characters that flite reads: it reads bytes, and is silent for those of all other characters. Letters
 * lose their accents; what has no equivalent, such as letters of other scripts, becomes a space.
 */
export function toAscii(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replace(/\p{M}/gu, '')
      .replace(/[^\u0020-\u007e]/gu, (character) => PLAIN[character] ?? ' ')
      .replace(/ +/g, ' ')
      // It pauses only at a comma that follows a word.
      .replaceAll(' ,', ',')
      .trim()
  );
}
