/** Translates cues. Returns the same number of cues. */
import { JobFailure } from '../../protocol/job-failure.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { LanguagePair, SourceText, Translator } from '../backend.ts';
import type { EngineUse, Subtitle, Work } from '../engine.ts';
import { choose, type StepEngines } from '../registry.ts';
import { hasWords, stripMarkup, wrapText } from '../text.ts';

interface Translation {
  readonly lines: readonly SubtitleLine[];
  /** BCP 47 tags. The source may be `auto`. */
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
}

/**
 * Translates each cue. Times and number of cues do not change.
 * @throws JobFailure LANGUAGE_NOT_SUPPORTED if no engine supports the pair, or the language cannot be detected
 */
export async function translate(
  engines: StepEngines,
  task: Translation,
  work: Work,
): Promise<{ subtitle: Subtitle; use: EngineUse }> {
  const from = task.sourceLanguage === 'auto' ? await detect(engines, task.lines, work) : task.sourceLanguage;
  const pair = { from, to: task.targetLanguage };
  const { backend, use } = await choose(
    'translate',
    engines.translate,
    (translator) => translator.supports(pair, work),
    () => noPair(engines, pair, work),
  );
  const cues = task.lines.map((line) => takeApart(line, backend));
  const texts = cues.flatMap((cue) => cue.texts);
  const translated = texts.length === 0 ? [] : await backend.translate({ ...pair, texts }, work);
  let next = 0;
  const lines = task.lines.map((line, at) => {
    const cue = cues[at];
    if (cue === undefined) return line;
    const own = translated.slice(next, next + cue.texts.length);
    next += cue.texts.length;
    return { ...line, text: cue.restore(own) };
  });
  return { subtitle: { language: task.targetLanguage, lines }, use };
}

async function detect(engines: StepEngines, lines: readonly SubtitleLine[], work: Work): Promise<string> {
  const detector = engines.translate.find(({ backend }) => backend.detect !== null)?.backend.detect;
  if (detector == null) {
    const message =
      'no engine can detect the language of the subtitles; set it with --from (source_language)';
    throw new JobFailure('LANGUAGE_NOT_SUPPORTED', message);
  }
  return detector(
    lines.map(({ text }) => text),
    work,
  );
}

async function noPair(engines: StepEngines, { from, to }: LanguagePair, work: Work): Promise<JobFailure> {
  const lists = await Promise.all(engines.translate.map(({ backend }) => backend.pairs(work)));
  const all = lists.flat().map((pair) => `${pair.from} to ${pair.to}`);
  const shown = all.slice(0, MOST_PAIRS).join(', ') || 'none';
  const more = all.length > MOST_PAIRS ? ` and ${all.length - MOST_PAIRS} more` : '';
  return new JobFailure(
    'LANGUAGE_NOT_SUPPORTED',
    `no engine translates ${from} to ${to}; there are: ${shown}${more}`,
  );
}

/** A language model translates between thousands of pairs. */
const MOST_PAIRS = 40;

/** A row that begins with a dash belongs to another speaker. */
const SPEAKER = /^\s*[-–—]\s*(?=\S)/;
/** Markup around a whole cue, as in `<i>…</i>` and `{\an8}…`. */
const OPENING = /^(?:\s*(?:<[a-z][^<>]{0,200}>|\{\\[^{}]{0,200}\}))+/i;
const CLOSING = /(?:<\/[a-z][^<>]{0,20}>\s*)+$/i;
const SENTENCE_END = /[.?!…]["'”»)]?$/u;

interface CueParts {
  /** Texts to translate, one per speaker; empty if the cue has no words. */
  readonly texts: readonly SourceText[];
  /** Returns the cue with its texts replaced. */
  restore(translated: readonly string[]): string;
}

/** Splits a cue into parts. Rows of one speaker are joined, because sentences span several rows. */
export function takeApart(
  line: Pick<SubtitleLine, 'text' | 'start_ms' | 'end_ms'>,
  { keepsMarkup, punctuates }: Pick<Translator, 'keepsMarkup' | 'punctuates'>,
): CueParts {
  const { text } = line;
  const durationMs = line.end_ms - line.start_ms;
  const rows = stripMarkup(text).split('\n');
  if (!hasWords(rows.join(''))) return { texts: [], restore: () => text };
  if (keepsMarkup) {
    return { texts: [{ text, durationMs }], restore: ([whole = '']) => wrapUnlessMarked(whole) };
  }
  const opening = OPENING.exec(text)?.[0] ?? '';
  const closing = CLOSING.exec(text.slice(opening.length))?.[0] ?? '';
  const dialogue = rows.length > 1 && rows.every((row) => SPEAKER.test(row));
  const texts = dialogue ? rows.map((row) => row.replace(SPEAKER, '')) : [rows.join(' ')];
  const letters = texts.join('').length;
  return {
    texts: texts.map((each) => ({ text: each, durationMs: (durationMs * each.length) / letters })),
    restore(translated) {
      const finished = punctuates
        ? translated
        : translated.map((part, at) => likeSource(part, texts[at] ?? ''));
      const body = dialogue ? finished.map((part) => `- ${part}`).join('\n') : wrapText(finished.join(' '));
      return `${opening}${body}${closing}`;
    },
  };
}

/** A text that has no rows of its own and no markup gets rows that fit the screen. */
function wrapUnlessMarked(text: string): string {
  return text.includes('\n') || stripMarkup(text) !== text ? text : wrapText(text);
}

/** Capitalizes the start and ends the sentence as in the source. */
function likeSource(translated: string, source: string): string {
  const text = translated.trim();
  const capital = /^\P{L}*\p{Lu}/u.test(source);
  const cased = capital ? text.replace(/\p{L}/u, (letter) => letter.toUpperCase()) : text;
  const end = SENTENCE_END.exec(source)?.[0] ?? '';
  return end === '' || SENTENCE_END.test(cased) ? cased : cased + end;
}
