/** Speech by a program of the user, such as Piper: text on its stdin, a WAV in return. */
import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { MAX_SPEECH_BYTES, NOTHING_SAID, readSpeech } from '../../../media/audio/read-clip.ts';
import { hasWords } from '../../../media/subtitles/text.ts';
import type { EngineRun } from '../../../media/work.ts';
import { matchLanguage } from '../../../protocol/languages.ts';
import type { Speaker } from '../../backend.ts';
import type { TypedEntry } from '../../config.ts';
import type { BackendParts } from '../parts.ts';
import { unusableEntryFailure } from '../parts.ts';
import { chooseVoice, MOST_SPEED, spokenLanguages, voiceNames } from '../voice-choice.ts';
import { checkResult, createProgram, nameResult } from './program.ts';

/** Each call loads the model, for large ones about a minute, and speaks one cue. */
const TIMEOUT = 300;

/** @throws JobFailure if the entry cannot work */
export function createCommandSpeaker(entry: TypedEntry<'speak', 'command'>, parts: BackendParts): Speaker {
  const allowed = ['output', 'language', 'voice', 'speed'] as const;
  const program = createProgram(entry, parts, { allowed, timeout: TIMEOUT });
  const languages = spokenLanguages(entry);
  if (languages.length === 0) {
    throw unusableEntryFailure(
      `${program.name}: add "languages" with those that the program speaks, such as ["es"], or "voices"`,
    );
  }
  const names = languages.map((language) => ({ language, voices: voiceNames(entry, language) }));
  const voiceless = names.find(({ voices }) => voices.length === 0);
  if (program.uses('voice') && voiceless !== undefined) {
    throw unusableEntryFailure(
      `${program.name}: "run" contains {voice}; add the voice for ${voiceless.language} to "voices"`,
    );
  }
  const option = names.flatMap(({ voices }) => voices).find((voice) => voice.startsWith('-'));
  if (option !== undefined) {
    throw unusableEntryFailure(
      `${program.name}: the voice "${option}" would be read as an option; remove the hyphen`,
    );
  }
  const generate = async (
    values: { text: string; language: string; voice: string; speed: string },
    run: EngineRun,
  ) => {
    const folder = resolve(run.folder);
    const output = join(folder, nameResult('.wav'));
    const options = { stdin: `${values.text}\n`, maxStdoutBytes: MAX_SPEECH_BYTES };
    const stdout = await program.run({ ...values, output }, run, options);
    if (!program.uses('output')) return stdout;
    const limits = { folder, shown: 'its WAV file', maxBytes: MAX_SPEECH_BYTES };
    const sound = await readFile(await checkResult(program, output, limits));
    await rm(output, { force: true });
    return sound;
  };
  return {
    name: program.name,
    concurrency: entry.concurrency ?? 1,
    mostSpeed: program.uses('speed') ? MOST_SPEED : 1,
    isLevel: false,
    voices: async () => names,
    supports: async (language) => matchLanguage(language, languages) !== null,
    close: async () => {},
    async speak({ text, language: wanted, voiceMode, speed }, run) {
      if (!hasWords(text)) return NOTHING_SAID;
      const language = matchLanguage(wanted, languages) ?? wanted;
      const voice = chooseVoice(entry, language, voiceMode) ?? '';
      const sound = await generate({ text, language, voice, speed: speed.toFixed(2) }, run);
      return readSpeech(sound, { backend: program.name, text }, parts.programs, run);
    },
  };
}
