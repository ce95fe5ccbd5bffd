/** Translation by a program of the user: one JSON object a line for each text, in both directions. */
import * as v from 'valibot';
import { hasWords } from '../../../media/subtitles/text.ts';
import type { LanguagePair } from '../../../protocol/languages.ts';
import { matchLanguage } from '../../../protocol/languages.ts';
import type { Translator } from '../../backend.ts';
import type { TypedEntry } from '../../config.ts';
import type { BackendParts } from '../parts.ts';
import { unusableEntryFailure } from '../parts.ts';
import { createProgram, shortenOutput, type UserProgram } from './program.ts';

/** A large model on one core translates a few words a second, and a film has some thousand words. */
const TIMEOUT = 3_600;

const Answer = v.object({ id: v.number(), text: v.string() });

/** @throws JobFailure if the entry cannot work */
export function createCommandTranslator(
  entry: TypedEntry<'translate', 'command'>,
  parts: BackendParts,
): Translator {
  const program = createProgram(entry, parts, { allowed: ['from', 'to'], timeout: TIMEOUT });
  const languages = entry.languages ?? [];
  if (languages.length < 2) {
    throw unusableEntryFailure(
      `${program.name}: add "languages" with at least two between which the program translates, such as ["en", "es"]`,
    );
  }
  const match = (pair: LanguagePair): LanguagePair | null => {
    const from = matchLanguage(pair.from, languages);
    const to = matchLanguage(pair.to, languages);
    return from === null || to === null || from === to ? null : { from, to };
  };
  return {
    name: program.name,
    concurrency: entry.concurrency ?? 1,
    keepsMarkup: false,
    punctuates: true,
    seesNeighbours: true,
    detect: null,
    supports: async (pair) => match(pair) !== null,
    pairs: async () =>
      languages.flatMap((from) => languages.filter((to) => to !== from).map((to) => ({ from, to }))),
    close: async () => {},
    async translate(task, work) {
      const { from, to } = match(task) ?? task;
      const texts = task.texts.map(({ text }) => text);
      const lines = task.texts.map(({ text, durationMs }, at) =>
        JSON.stringify({ id: at + 1, text, from, to, duration_ms: Math.round(durationMs) }),
      );
      const collected = collectAnswers(program, texts, work.report);
      await program.run({ from, to }, work, { stdin: `${lines.join('\n')}\n`, onLine: collected.add });
      return collected.all();
    },
  };
}

/** Collects the answers, in any order. Throws at the first line that is not an expected one. */
function collectAnswers(
  program: UserProgram,
  texts: readonly string[],
  report: (fraction: number) => void,
): { add: (line: string) => void; all: () => string[] } {
  const answers = new Map<number, string>();
  const count = texts.length;
  const add = (line: string) => {
    if (line.trim() === '') return;
    const { id, text } = parseAnswer(program, line);
    const source = texts[id - 1];
    if (source === undefined)
      throw program.failure(`wrote a text with the id ${id}, which it did not receive`);
    if (answers.has(id)) throw program.failure(`wrote the text with the id ${id} twice`);
    const row = text.replaceAll(/\s+/g, ' ').trim();
    if (row === '' && hasWords(source)) throw program.failure(`wrote an empty text for the id ${id}`);
    answers.set(id, row);
    report(answers.size / count);
  };
  const all = () => {
    const missing = texts.findIndex((_, at) => !answers.has(at + 1));
    if (missing >= 0) {
      throw program.failure(
        `wrote ${answers.size} texts for ${count}; the first that is missing has the id ${missing + 1}`,
      );
    }
    return texts.map((_, at) => answers.get(at + 1) ?? '');
  };
  return { add, all };
}

function parseAnswer(program: UserProgram, line: string): v.InferOutput<typeof Answer> {
  try {
    return v.parse(Answer, JSON.parse(line));
  } catch (error) {
    const shown = shortenOutput(line.slice(0, 80));
    throw program.failure(
      `wrote a line that is not {"id": …, "text": …}: "${shown}"; messages belong to its standard error`,
      error,
    );
  }
}
