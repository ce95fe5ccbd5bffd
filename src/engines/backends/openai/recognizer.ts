/** Speech recognition behind OpenAI's interface: `POST /audio/transcriptions`. */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MOST_PACK_SECONDS, packRanges, type Segment, SPEECH_MARGIN } from '../../../media/audio/segments.ts';
import { openWav } from '../../../media/audio/wav.ts';
import { fileAddress, ownInput, QUIET } from '../../../media/programs/arguments.ts';
import type { BackendWork, Recognition, RecognitionTask, Recognizer, Word } from '../../backend.ts';
import type { TypedEntry } from '../../config.ts';
import { readHints } from '../hints.ts';
import { createServer, type Outgoing, ServerRefusal } from '../http.ts';
import type { BackendParts } from '../parts.ts';
import { parseVerboseJson, type Transcript, WHISPER_LANGUAGES, whisperCode, wordsOf } from '../transcript.ts';

/** A quarter of a minute. Shorter sound is sent unchanged: starting the encoder takes longer than sending twice the bytes. */
const MAX_WAV_BYTES = 500_000;
/** 30 minutes: twice the longest video, on a processor without graphics card. */
const TIMEOUT_SECONDS = 1_800;
const CONCURRENCY = 4;

/** Forms of the answer, the most useful first. Not every server and model accepts each. */
const FORMS: readonly (readonly (readonly [string, string])[])[] = [
  [
    ['response_format', 'verbose_json'],
    ['timestamp_granularities[]', 'word'],
    ['timestamp_granularities[]', 'segment'],
  ],
  [['response_format', 'verbose_json']],
  [['response_format', 'json']],
];

/** Characters: Whisper reads the last 224 tokens of a prompt, and a token is about three letters of a name. */
const MOST_PROMPT = 600;

const SEPARATOR = ', ';

const NO_WORD_TIMES = 'the server returns no times of words, so they are estimated from those of its phrases';
const NO_TIMES = 'the model returns no times, so the sound is sent in short parts, and times are estimated';

/** Creates the recognizer of an entry. Nothing is sent before the first call. */
export function createOpenAiRecognizer(
  entry: TypedEntry<'recognize', 'openai'>,
  parts: BackendParts,
): Recognizer {
  const name = `openai ${entry.model}`;
  const server = createServer(entry, { name, timeout: TIMEOUT_SECONDS, keyIn: 'header' }, parts);
  // The models that Whisper was trained with for English only have this ending.
  const languages = entry.languages ?? (/\.en\b/.test(entry.model) ? ['en'] : WHISPER_LANGUAGES);
  /** The most useful form that the server is not known to reject, as an index. */
  let known = 0;
  let givesTimes = true;

  async function recognize(task: RecognitionTask, work: BackendWork): Promise<Recognition> {
    const voice = await openWav(task.voice);
    const seconds = voice.frames / voice.sampleRate;
    await voice.close();
    const folder = await mkdtemp(join(work.folder, 'transcribe-'));
    const spoken = task.language === 'auto' ? null : task.language;
    const prompt = writePrompt(await readHints(name, entry, parts.env));
    const job: Job = { ...task, seconds, folder, work, spoken, prompt };
    try {
      const words = await hear(longParts(job), job);
      const language = job.spoken ?? languages[0] ?? 'en';
      return { language, words: words.toSorted((a, b) => a.start - b.start), punctuated: true };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Recognizes parts of the sound one by one. */
  async function hear(sound: readonly Segment[], job: Job): Promise<Word[]> {
    const words: Word[] = [];
    for (const part of sound) {
      for (const each of givesTimes ? [part] : shortParts(part, job))
        words.push(...(await hearPart(each, job)));
    }
    return words;
  }

  async function hearPart(part: Segment, job: Job): Promise<Word[]> {
    const transcript = await transcribe(await prepare(part, job), job);
    if (givesTimes && isUntimed(transcript)) {
      givesTimes = false;
      server.warn(NO_TIMES);
      return await hear([part], job);
    }
    const { words, phrases } = transcript;
    if (givesTimes && words.length === 0 && phrases.some((phrase) => phrase.words.length === 0)) {
      server.warn(NO_WORD_TIMES);
    }
    job.spoken ??= transcript.language;
    job.work.report(Math.min(1, part.end / job.seconds));
    return placeWords(transcript, part, job);
  }

  async function prepare(part: Segment, job: Job): Promise<FormFile> {
    const isWhole = part.start === 0 && part.end === job.seconds;
    if (isWhole && (await stat(job.voice)).size <= MAX_WAV_BYTES) {
      return { path: job.voice, name: 'speech.wav', type: 'audio/wav' };
    }
    const path = join(job.folder, 'speech.flac');
    await encode(job.voice, part, path, job.work);
    return { path, name: 'speech.flac', type: 'audio/flac' };
  }

  function writePrompt(hints: readonly string[]): string {
    const sent = hints.filter((_, at) => hints.slice(0, at + 1).join(SEPARATOR).length <= MOST_PROMPT);
    if (sent.length < hints.length)
      server.warn(`${sent.length} of ${hints.length} terms are sent, which are as many as the model reads`);
    return sent.join(SEPARATOR);
  }

  async function encode(
    voice: string,
    { start, end }: Segment,
    to: string,
    work: BackendWork,
  ): Promise<void> {
    const range = ['-ss', start.toFixed(3), '-t', (end - start).toFixed(3)];
    const args = [...QUIET, ...range, ...ownInput(voice, 'wav'), '-f', 'flac', fileAddress(to)];
    await parts.programs.run('ffmpeg', args, { signal: work.signal, folder: work.folder });
  }

  async function transcribe(file: FormFile, job: Job): Promise<Transcript> {
    for (let form = known; ; form += 1) {
      try {
        const transcript = await request(file, form, job);
        known = form;
        return transcript;
      } catch (error) {
        if (!(error instanceof ServerRefusal)) throw error;
        const mayBeForm = error.status === 400 || error.status === 422 || error.status >= 500;
        if (!mayBeForm || form === FORMS.length - 1) throw error;
      }
    }
  }

  async function request(file: FormFile, form: number, { spoken, work, prompt }: Job): Promise<Transcript> {
    const fields = [
      ['model', entry.model] as const,
      ...(FORMS[form] ?? []),
      ...(spoken === null ? [] : [['language', whisperCode(spoken)] as const]),
      ...(prompt === '' ? [] : [['prompt', prompt] as const]),
    ];
    const body = await formBody(fields, file);
    const isRefusal = (said: string) => /timestamp|verbose_json|response_format/i.test(said);
    const answer = await server.sendForText({ path: '/audio/transcriptions', body, isRefusal }, work);
    try {
      return parseVerboseJson(answer);
    } catch (error) {
      const what = error instanceof Error ? error.message : 'an unknown form';
      throw server.failure(`the server answered with ${what}; check "url" and "model" in engines.json`);
    }
  }

  return {
    name,
    concurrency: entry.concurrency ?? CONCURRENCY,
    languages: async () => languages,
    recognize,
    async close() {
      server.close();
    },
  };
}

interface Job extends RecognitionTask {
  /** Length of the sound. */
  readonly seconds: number;
  readonly folder: string;
  readonly work: BackendWork;
  /** Words to expect; empty for none. */
  readonly prompt: string;
  /** BCP 47 tag; null until the language is detected. */
  spoken: string | null;
}

/**
 * Parts that fill the 30 s which Whisper hears at once: as many of them as of the whole sound, without its silence, for which
 * models invent words, and far below the 25 MB that servers accept.
 */
function longParts({ segments, seconds }: Job): Segment[] {
  if (segments.length > 0 && seconds <= MOST_PACK_SECONDS) return [{ start: 0, end: seconds }];
  return packRanges(segments, seconds, 0, MOST_PACK_SECONDS);
}

/** Parts of speech that are so short that their times are nearly those of the words. */
function shortParts(part: Segment, { segments }: Job): Segment[] {
  const speech = segments.filter(({ start, end }) => end > part.start && start < part.end);
  return packRanges(speech, part.end, 0);
}

/** Text for the whole sound: plain `json`. */
function isUntimed({ phrases, words }: Transcript): boolean {
  return words.length === 0 && phrases.some(({ text, end }) => text.trim() !== '' && !Number.isFinite(end));
}

/** Gives the words of a part their times in the whole sound, within the speech. */
function placeWords(transcript: Transcript, part: Segment, { segments }: Job): Word[] {
  const move = <T extends Segment>(timed: T): T => ({
    ...timed,
    start: timed.start + part.start,
    end: timed.end + part.start,
  });
  const moved = {
    ...transcript,
    words: transcript.words.map(move),
    phrases: transcript.phrases.map((phrase) => ({ ...move(phrase), words: phrase.words.map(move) })),
  };
  return wordsOf(moved, { segments, seconds: part.end }).map((word) => {
    const speech = segments[word.segment];
    if (speech === undefined) return word;
    // Models let words last into pauses, where the cue would stay.
    const start = Math.max(word.start, speech.start - SPEECH_MARGIN);
    const end = Math.min(word.end, speech.end + SPEECH_MARGIN);
    return end > start ? { ...word, start, end } : word;
  });
}

interface FormFile {
  readonly path: string;
  /** Name for the server, which knows the format by its ending. */
  readonly name: string;
  readonly type: string;
}

/**
 * Returns a form with fields and one file, as browsers send it (RFC 7578). The file is streamed.
 * @param fields names and values, which have no line break; a name may repeat
 */
async function formBody(
  fields: readonly (readonly [string, string])[],
  file: FormFile,
): Promise<NonNullable<Outgoing['body']>> {
  const boundary = `vloc-${randomUUID()}`;
  const part = (disposition: string) => `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  const texts = fields.map(([name, value]) => `${part(`name="${name}"`)}\r\n${value}\r\n`).join('');
  const opening = `${part(`name="file"; filename="${file.name}"`)}Content-Type: ${file.type}\r\n\r\n`;
  const head = Buffer.from(texts + opening);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const { size } = await stat(file.path);
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    bytes: head.length + size + tail.length,
    async *open() {
      yield head;
      yield* createReadStream(file.path);
      yield tail;
    },
  };
}
