/** Recognition by a program of the user, such as whisper. */
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import { wavSeconds } from '../../../media/audio/wav.ts';
import { matchLanguage } from '../../../protocol/languages.ts';
import type { BackendWork, RecognitionTask, Recognizer } from '../../backend.ts';
import type { TypedEntry } from '../../config.ts';
import type { BackendParts } from '../parts.ts';
import { unusableEntryFailure } from '../parts.ts';
import {
  isPunctuated,
  parseSrtTranscript,
  parseVerboseJson,
  type Transcript,
  wordsOf,
} from '../transcript.ts';
import {
  checkResult,
  createProgram,
  isWritten,
  nameResult,
  shortenOutput,
  type UserProgram,
} from './program.ts';

/** A large model on one core takes about four times the length of the sound, which is at most 15 minutes. */
const TIMEOUT = 3_600;
/** The words of 15 minutes with all numbers of whisper take about 5 MB. */
const MAX_BYTES = 32 * 1024 ** 2;

/** Name of each format in messages, and the ending of its files. */
const FORMATS = {
  srt: { ending: '.srt', shown: 'SRT', parse: parseSrtTranscript },
  verbose_json: { ending: '.json', shown: 'verbose_json', parse: parseVerboseJson },
} as const;
type Format = (typeof FORMATS)[keyof typeof FORMATS];

/** @throws JobFailure if the entry cannot work */
export function createCommandRecognizer(
  entry: TypedEntry<'recognize', 'command'>,
  parts: BackendParts,
): Recognizer {
  const allowed = ['input', 'output', 'out', 'stem', 'language'] as const;
  const program = createProgram(entry, parts, { allowed, timeout: TIMEOUT });
  const languages = entry.languages ?? [];
  const [only] = languages;
  if (only === undefined) {
    throw unusableEntryFailure(
      `${program.name}: add "languages" with those that the program recognizes, such as ["en", "es"]`,
    );
  }
  if (!program.uses('input')) {
    throw unusableEntryFailure(`${program.name}: "run" must contain {input}, the WAV of the speech`);
  }
  const format = FORMATS[entry.format ?? 'srt'];
  return {
    name: program.name,
    concurrency: entry.concurrency ?? 1,
    languages: async () => languages,
    close: async () => {},
    async recognize(task, work) {
      const asked = task.language === 'auto' ? null : matchLanguage(task.language, languages);
      const language = asked ?? (languages.length === 1 ? only : 'auto');
      const text = await transcribe(program, format, { ...task, language }, work);
      const transcript = parse(program, format, text);
      const words = wordsOf(transcript, {
        segments: task.segments,
        seconds: await wavSeconds(task.voice),
      });
      work.report(1);
      const heard = transcript.language === null ? null : matchLanguage(transcript.language, languages);
      return {
        language: asked ?? heard ?? only,
        words,
        punctuated: isPunctuated(words),
      };
    },
  };
}

/** Returns what the program wrote: a file if the arguments name one or a folder, else stdout. */
async function transcribe(
  program: UserProgram,
  format: Format,
  task: RecognitionTask,
  work: BackendWork,
): Promise<string> {
  const folder = resolve(work.folder);
  const input = resolve(task.voice);
  const output = join(folder, nameResult(format.ending));
  const out = program.uses('out') ? await mkdtemp(join(folder, 'transcript-')) : folder;
  const values = { input, output, out, stem: basename(input, extname(input)), language: task.language };
  const stdout = await program.run(values, work, { maxStdoutBytes: MAX_BYTES });
  const limits = { folder, shown: `its ${format.shown} file`, maxBytes: MAX_BYTES };
  if (program.uses('output')) {
    // Some programs add the ending themselves.
    const doubled = `${output}${format.ending}`;
    const path = !(await isWritten(output)) && (await isWritten(doubled)) ? doubled : output;
    return readFile(await checkResult(program, path, limits), 'utf8');
  }
  if (program.uses('out')) {
    const names = (await readdir(out)).filter((name) => name.endsWith(format.ending));
    if (names.length > 1)
      throw program.failure(`wrote ${names.length} ${format.ending} files instead of one`);
    return readFile(await checkResult(program, join(out, names[0] ?? 'missing'), limits), 'utf8');
  }
  if (stdout.length === 0) throw program.failure(`wrote no ${format.shown} to its standard output`);
  return stdout.toString('utf8');
}

function parse(program: UserProgram, format: Format, text: string): Transcript {
  try {
    return format.parse(text);
  } catch (error) {
    const why = error instanceof Error ? shortenOutput(error.message) : '';
    throw program.failure(`did not write ${format.shown}: ${why}`, error);
  }
}
