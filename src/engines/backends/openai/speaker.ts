/** Speech behind OpenAI's interface: `POST /audio/speech`. */

import { readSpeech } from '../../../media/audio/read-clip.ts';
import { hasWords } from '../../../media/subtitles/text.ts';
import type { Clip, EngineRun } from '../../../media/work.ts';
import { JobFailure } from '../../../protocol/job-failure.ts';
import { matchLanguage } from '../../../protocol/languages.ts';
import type { Speaker, SpeechRequest, VoiceMode } from '../../backend.ts';
import type { TypedEntry } from '../../config.ts';
import { createServer, jsonBody, ServerRefusal } from '../http.ts';
import type { BackendParts } from '../parts.ts';
import { chooseVoice, MOST_SPEED, spokenLanguages, voiceNames } from '../voice-choice.ts';

/** Three minutes at 48 kHz in stereo and 32 bits, more than the longest text of a cue lasts. */
const MAX_SOUND_BYTES = 64 * 1024 * 1024;
/** 5 minutes: a large model that speaks one cue on a processor without graphics card. */
const TIMEOUT_SECONDS = 300;
const CONCURRENCY = 4;

/** Voices of OpenAI that speak all its languages. Other servers accept them too, as names of their own voices. */
const OPENAI_VOICES: Readonly<Record<VoiceMode, string>> = { auto: 'alloy', female: 'nova', male: 'onyx' };

/**
 * Creates the speaker of an entry. Nothing is sent before the first call.
 * @throws JobFailure if the entry does not say which languages it speaks
 */
export function createOpenAiSpeaker(entry: TypedEntry<'speak', 'openai'>, parts: BackendParts): Speaker {
  const name = `openai ${entry.model}`;
  const server = createServer(entry, { name, timeout: TIMEOUT_SECONDS, keyIn: 'header' }, parts);
  const languages = spokenLanguages(entry);
  if (languages.length === 0) {
    const message =
      'servers do not report which languages their voices speak; add "voices": {"es": "NAME"} to this engine in engines.json, or "languages": ["es"] for a voice that speaks several';
    throw server.failure(message, { permanent: true });
  }
  const namesOf = (language: string): readonly string[] =>
    entry.voices === undefined ? Object.values(OPENAI_VOICES) : voiceNames(entry, language);
  const voiceless = languages.find((language) => namesOf(language).length === 0);
  if (voiceless !== undefined) {
    const message = `"languages" has ${voiceless}, but "voices" has no voice for it; add one in engines.json`;
    throw server.failure(message, { permanent: true });
  }
  let acceptsSpeed = true;
  let acceptsFormat = true;

  function voiceFor({ language, voiceMode }: SpeechRequest): string {
    const known = matchLanguage(language, languages);
    if (known === null) {
      throw new JobFailure('LANGUAGE_NOT_SUPPORTED', `${name} has no voice for ${language}`);
    }
    return entry.voices === undefined
      ? OPENAI_VOICES[voiceMode]
      : (chooseVoice(entry, known, voiceMode) ?? OPENAI_VOICES[voiceMode]);
  }

  async function speak(request: SpeechRequest, run: EngineRun): Promise<Clip> {
    const voice = voiceFor(request);
    // Servers return silence, noise or an error for a text without words.
    if (!hasWords(request.text)) return { samples: new Int16Array(0), sampleRate: 24_000 };
    try {
      return await speakOnce(request, voice, run);
    } catch (error) {
      if (!(error instanceof UnusableSound)) throw error;
    }
    // Models differ from time to time. A second unusable sound has a lasting cause.
    try {
      return await speakOnce(request, voice, run);
    } catch (error) {
      if (!(error instanceof UnusableSound)) throw error;
      throw new JobFailure('ENGINE_ERROR', error.message, { permanent: true, cause: error });
    }
  }

  async function speakOnce(request: SpeechRequest, voice: string, run: EngineRun): Promise<Clip> {
    const sound = await fetchSound(request, voice, run);
    try {
      return await readSpeech(sound, { backend: name, text: request.text }, parts.programs, run);
    } catch (error) {
      if (error instanceof JobFailure) throw new UnusableSound(error.message, { cause: error });
      throw error;
    }
  }

  async function fetchSound(request: SpeechRequest, voice: string, run: EngineRun): Promise<Buffer> {
    const speed = Math.round(request.speed * 1000) / 1000;
    for (;;) {
      const withSpeed = acceptsSpeed && speed !== 1;
      const body = jsonBody({
        model: entry.model,
        input: request.text,
        voice,
        ...(acceptsFormat ? { response_format: 'wav' } : {}),
        ...(withSpeed ? { speed } : {}),
      });
      try {
        const answer = await server.send({ path: '/audio/speech', body }, MAX_SOUND_BYTES, run);
        if (!/json|html/.test(answer.type)) return answer.body;
        const message = `the server answered with ${answer.type} instead of sound; check "url" and "model" of this engine in engines.json`;
        throw server.failure(message, { permanent: true });
      } catch (error) {
        if (!(error instanceof ServerRefusal) || (error.status !== 400 && error.status !== 422)) throw error;
        if (withSpeed && /speed/i.test(error.said)) {
          acceptsSpeed = false;
          server.warn('the server accepts no speed, so speech that does not fit is stretched');
        } else if (acceptsFormat && /format|wav/i.test(error.said)) acceptsFormat = false;
        else throw error;
      }
    }
  }

  return {
    name,
    concurrency: entry.concurrency ?? CONCURRENCY,
    get mostSpeed() {
      return acceptsSpeed ? MOST_SPEED : 1;
    },
    isLevel: false,
    voices: async () => languages.map((language) => ({ language, voices: namesOf(language) })),
    supports: async (language) => matchLanguage(language, languages) !== null,
    speak,
    async close() {
      server.close();
    },
  };
}

/** Sound that is empty, silent, or far too long for its text. */
class UnusableSound extends Error {}
